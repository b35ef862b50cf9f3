/**
 * Where an API server is and how to prove to it who we are. `kubeconfig.ts` makes one from what kubectl would use;
 * `clusterAt` from a bare URL, for an API server in the same process or on the same machine.
 */

/** What `tls.connect` gets. */
export interface TlsSettings {
  readonly ca?: readonly (string | Buffer)[]
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name in the certificate, where it is not that of the URL. */
  readonly servername?: string
  /** False: any certificate is good (`insecure-skip-tls-verify`). */
  readonly rejectUnauthorized: boolean
}

/**
 * Credentials at one moment. A new object means new credentials; `tls` stays the same object while certificates do, so
 * that connections can go on.
 */
export interface Credentials {
  /** Sent with every request: `authorization`, `impersonate-user`, … */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly tls: TlsSettings
}

export interface Cluster {
  /** The cluster's name in the kubeconfig, `in-cluster`, or the URL. */
  readonly name: string
  /** The context's name in the kubeconfig; `''` where there is none. */
  readonly context: string
  /** `https://host:port`, perhaps with a path before that of the API. */
  readonly server: string
  /** The context's namespace, or that of the pod. */
  readonly namespace?: string
  readonly source: 'kubeconfig' | 'in-cluster' | 'url' | 'embedded'
  /** The kubeconfig files, or the folder of the service account, for messages. */
  readonly files: readonly string[]
  /** True: the server's certificate is not verified. Worth a warning. */
  readonly insecure: boolean
  /** `http://…` or `https://…` of a proxy that takes CONNECT. */
  readonly proxy?: string
  /** The newest ones: files are looked at again, at most once a second. */
  credentials(): Credentials | Promise<Credentials>
  /**
   * After a 401 to `rejected`: reads everything anew, once for all who ask at the same time. Gives the same object where
   * there is nothing new.
   */
  renew(rejected: Credentials): Promise<Credentials>
}

/** A cluster at a URL, with credentials that stay. */
export function clusterAt(server: string, credentials: Partial<Credentials> = {}): Cluster {
  const fixed: Credentials = { headers: {}, tls: { rejectUnauthorized: true }, ...credentials }
  return {
    name: server,
    context: '',
    server,
    source: 'url',
    files: [],
    insecure: !fixed.tls.rejectUnauthorized,
    credentials: () => fixed,
    renew: async () => fixed,
  }
}

/** A certificate and its key from files that somebody renews (cert-manager, a mounted Secret): read again when they change. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '../api/clock.ts'
import type { Certificate } from '../api/listen.ts'
import type { Log } from '../resource/log.ts'

const LOOK_MS = 10_000
const FILES = ['tls.crt', 'tls.key']

export interface CertificateFiles {
  readonly certificate: Certificate
  /** Calls `renewed` with each pair that comes after this one. One that is broken, or half there, is warned of, and tried again. Returns what ends it. */
  watch(clock: Clock, log: Log, renewed: (certificate: Certificate) => void): () => void
}

/** @throws Error where one of the files cannot be read, or they do not belong together */
export function readCertificate(folder: string): CertificateFiles {
  // Before they are read: what is written in between counts as new.
  let known = signature(folder)
  return {
    certificate: readPair(folder),
    watch(clock, log, renewed) {
      let timer: Timer
      const look = () => {
        const now = signature(folder)
        if (now !== known) {
          try {
            renewed(readPair(folder))
            known = now
            log.info({ folder }, 'took the new certificate')
          } catch (error) {
            log.warn({ err: error, folder }, 'the certificate has changed and cannot be used; keeping the old one')
          }
        }
        timer = clock.after(LOOK_MS, look)
      }
      timer = clock.after(LOOK_MS, look)
      return () => timer.cancel()
    },
  }
}

function readPair(folder: string): Certificate {
  const [cert, key] = FILES.map((name) => readFileSync(join(folder, name))) as [Buffer, Buffer]
  createSecureContext({ cert, key })
  return { cert, key }
}

function signature(folder: string): string {
  return FILES.map((name) => {
    try {
      const { mtimeMs, ino, size } = statSync(join(folder, name))
      return `${mtimeMs}/${ino}/${size}`
    } catch {
      return 'missing'
    }
  }).join(' ')
}

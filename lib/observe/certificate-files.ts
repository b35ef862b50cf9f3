/** A certificate and its key from files that somebody renews (cert-manager, a mounted Secret): read again when they change. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '../api/clock.ts'
import type { Log } from '../resource/log.ts'
import type { Certificate } from './endpoint.ts'

const LOOK_MS = 10_000
const FILES = ['tls.crt', 'tls.key']

/** @throws Error where one of the files cannot be read, or they do not belong together */
export function readCertificate(folder: string): Certificate {
  const [cert, key] = FILES.map((name) => readFileSync(join(folder, name))) as [Buffer, Buffer]
  createSecureContext({ cert, key })
  return { cert, key }
}

/** Calls `renewed` with each new pair. One that is broken, or half there, is warned of, and tried again. Returns a function that ends it. */
export function watchCertificate(folder: string, clock: Clock, log: Log, renewed: (certificate: Certificate) => void): () => void {
  let known = signature(folder)
  let timer: Timer
  const look = () => {
    const now = signature(folder)
    if (now !== known) {
      try {
        renewed(readCertificate(folder))
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

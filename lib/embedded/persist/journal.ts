/**
 * Keeps what is stored in a file: a line of JSON a write, appended at the end of the turn that wrote it, and the file made anew,
 * without what is outdated, at each start. A process that is killed loses the turn it was in; a line cut short by that is
 * dropped at the next start. The history is not kept: watches that resume after a restart are told 410 and list anew.
 */
import fs from 'node:fs'
import path from 'node:path'
import { decodeJson, encodeJson, isObject } from '../json.ts'
import type { ApiObject, StoreEvent } from '../types.ts'

const FORMAT = { format: 'tsop-apiserver', version: 1 }

export interface SavedObject {
  readonly bucket: string
  readonly namespace: string
  readonly name: string
  readonly object: ApiObject
}

export interface Journal {
  readonly revision: number
  readonly objects: readonly SavedObject[]
  record(event: StoreEvent, bucket: string): void
  /** Writes what is left, and gives the file free. */
  close(): void
}

interface Line {
  readonly revision: number
  readonly bucket: string
  readonly namespace: string
  readonly name: string
  /** Absent: deleted. */
  readonly object?: ApiObject
}

/** @throws Error naming the file, and what to do: it is in use, no such file, unreadable, written by another version */
export function openJournal(file: string): Journal {
  const unlock = lock(file)
  try {
    return start(file, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

function start(file: string, unlock: () => void): Journal {
  const { revision, objects } = read(file)
  // The new file is whole before it takes the place of the old one.
  const temporary = `${file}.new`
  const head = encodeJson({ ...FORMAT, revision })
  const lines = [...objects.values()].map((saved) => encodeJson({ revision: Number(saved.object.metadata.resourceVersion), ...saved }))
  fs.writeFileSync(temporary, `${[head, ...lines].join('\n')}\n`, { mode: 0o600 })
  fs.renameSync(temporary, file)
  const descriptor = fs.openSync(file, 'a')
  let pending: string[] = []
  let open = true
  const flush = () => {
    if (pending.length === 0 || !open) return
    const text = `${pending.join('\n')}\n`
    pending = []
    fs.writeSync(descriptor, text)
  }
  return {
    revision,
    objects: [...objects.values()],
    record({ type, revision, namespace, name, object }, bucket) {
      if (pending.length === 0) setImmediate(flush)
      pending.push(encodeJson({ revision, bucket, namespace, name, ...(type === 'DELETED' ? {} : { object }) }))
    },
    close() {
      flush()
      open = false
      fs.closeSync(descriptor)
      unlock()
    },
  }
}

function read(file: string): { revision: number; objects: Map<string, SavedObject> } {
  const objects = new Map<string, SavedObject>()
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error(`${file}: cannot be read: ${(error as Error).message}`)
    fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
    return { revision: 1, objects }
  }
  if (text === '') return { revision: 1, objects }
  // What follows the last end of a line was cut short when the process was killed.
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
  lines.pop()
  let revision = headRevision(file, lines[0] ?? text)
  for (const [index, content] of lines.entries()) {
    if (index === 0) continue
    const line = parse(file, index + 1, content)
    revision = Math.max(revision, line.revision)
    const { bucket, namespace, name, object } = line
    const key = `${bucket} ${namespace}/${name}`
    objects.delete(key)
    if (object !== undefined) objects.set(key, { bucket, namespace, name, object })
  }
  return { revision, objects }
}

function headRevision(file: string, text: string): number {
  const head = attempt(text)
  if (!isObject(head) || head['format'] !== FORMAT.format) {
    throw new Error(`${file}: is no file of an embedded API server; name another one`)
  }
  if (head['version'] !== FORMAT.version) {
    throw new Error(`${file}: has format version ${head['version']}, and this tsop knows ${FORMAT.version}; delete it, or name another one`)
  }
  return Number(head['revision'])
}

function parse(file: string, number: number, text: string): Line {
  const line = attempt(text)
  if (!isObject(line) || typeof line['revision'] !== 'number' || typeof line['bucket'] !== 'string') {
    throw new Error(`${file}: line ${number} is damaged; delete the file to start anew, or the line to do without that change`)
  }
  return line as unknown as Line
}

function attempt(text: string): unknown {
  try {
    return decodeJson(text)
  } catch {
    return undefined
  }
}

/** Two servers that append to one file would ruin it. The lock of a process that is gone counts for nothing. */
function lock(file: string): () => void {
  const lockFile = `${file}.lock`
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
  for (;;) {
    try {
      fs.writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
      return () => fs.rmSync(lockFile, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new Error(`${file}: cannot be written: ${(error as Error).message}`)
      const owner = Number(fs.readFileSync(lockFile, 'utf8'))
      if (isAlive(owner)) throw new Error(`${file}: process ${owner} uses it; stop that one, or name another file`)
      fs.rmSync(lockFile, { force: true })
    }
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * `up DIR [PORT]`: starts a control plane that stays until `down DIR`, writes DIR/kubeconfig and prints what a shell needs. PORT is the API server's; the
 * next three are taken as well. What is in DIR from before is used again.
 */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findBinaries, PROGRAMS } from './binaries.ts'
import { certificateOf, commandLines, writeFiles } from './config.ts'
import { isRunning, pidFile, stopAll } from './pids.ts'
import { takenPorts } from './ports.ts'
import { whenReady } from './readiness.ts'

const [where, portText = '16443'] = process.argv.slice(2)
const port = Number(portText)
if (where === undefined || !Number.isInteger(port) || port < 1 || port > 65_532) {
  process.stderr.write('usage: up DIR [PORT]     (default 16443; the three ports after it are taken too)\n')
  process.exit(2)
}
const dir = resolve(where)
const ports = { apiServer: port, etcd: port + 1, etcdPeers: port + 2, controllerManager: port + 3 }
const apiServerFlags = process.env['APISERVER_FLAGS']?.split(/\s+/).filter((flag) => flag !== '')

if (PROGRAMS.some((program) => isRunning(dir, program))) {
  process.stderr.write(`A control plane runs in ${dir} already. Stop it first: down ${where}\n`)
  process.exit(1)
}
const taken = await takenPorts(Object.values(ports))
if (taken.length > 0) {
  process.stderr.write(`Taken already: port ${taken.join(', ')}. Choose another: up ${where} PORT takes PORT and the three after it.\n`)
  process.exit(1)
}

try {
  const binaries = findBinaries()
  writeFiles(dir, ports)
  for (const [program, args] of commandLines(dir, ports, apiServerFlags)) {
    if (program === 'kube-controller-manager') {
      await whenReady(port, certificateOf(dir), death)
      if (process.env['NO_KCM']) continue
    }
    const log = openSync(join(dir, `${program}.log`), 'w')
    const child = spawn(binaries[program], args, { detached: true, stdio: ['ignore', log, log] })
    closeSync(log)
    child.unref()
    writeFileSync(pidFile(dir, program), String(child.pid))
  }
  process.stdout.write(`export KUBECONFIG=${join(dir, 'kubeconfig')}\n`)
  process.stdout.write(`export PATH="${dirname(binaries.kubectl)}:$PATH"     # for kubectl\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  await stopAll(dir)
  process.exitCode = 1
}

function death(): string | undefined {
  for (const program of ['etcd', 'kube-apiserver'] as const) {
    if (!existsSync(pidFile(dir, program)) || isRunning(dir, program)) continue
    return `${program} ended: ${readFileSync(join(dir, `${program}.log`), 'utf8')
      .trim()
      .split('\n')
      .slice(-5)
      .join('\n')}`
  }
  return undefined
}

/** What the tests of the watchdog watch: a process that does as it is told. */
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../../lib/api/clock.ts'
import { startWatchdog } from '../../../lib/leadership/watchdog.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
const watchdog = startWatchdog({
  clock: systemClock,
  lastWords: { msg: 'last words' },
  ...(process.argv[3] === 'init' && { isInit: true }),
})
const now = () => systemClock.monotonic()

class Handler {
  async reconcile(waits: boolean) {
    await wait(1)
    slow(waits)
    return watchdog
  }
}

/** Calls nothing for nearly all of the time: where it is seen is what the test is about. */
function slow(waits: boolean): void {
  const end = now() + 1_500
  if (waits) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  else for (let i = 1; i % 1_000_000 !== 0 || now() < end; i++);
}

switch (process.argv[2]) {
  case 'computes':
  case 'waits':
    watchdog.watch(now() + 300)
    say(`blocked at ${Math.round(now())}`)
    await wait(50)
    if (process.argv[2] === 'waits') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8_000)
    else for (const end = now() + 8_000; now() < end; );
    say('went on')
    break
  case 'slow':
    await wait(300)
    await new Handler().reconcile(process.argv[3] === 'waits')
    say(`it was ${watchdog.blockedAt()}, then ${watchdog.blockedAt()}`)
    break
  case 'renews':
    for (let i = 0; i < 10; i++) {
      watchdog.watch(now() + 300)
      await wait(100)
    }
    watchdog.watch(undefined)
    await wait(1_000)
    await watchdog.stop()
    say('went on')
    break
  case 'exits':
    watchdog.watch(now() + 800, process.argv[3] === 'others' ? now() + 900 : undefined)
    await wait(process.argv[3] === 'others' ? 3_000 : 1_000)
    say('ended by itself')
    process.exitCode = 1
    break
  default:
    watchdog.watch(now() + 300)
}

/** A word for who would else see nothing but Node's exit code 13. */

/** Node ends by itself, before `command` is done, where all that is left is something that never settles. */
export function tellUnsettled(command: string): void {
  process.on('exit', (code) => {
    if (code === 13)
      process.stderr.write(`${command}: ended before it was done: something never settles, such as an await at the top of a handler file\n`)
  })
}

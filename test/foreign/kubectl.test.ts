/** kubectl cannot tell the embedded server from a real one: what it shows, word for word, and how it ends. */
import { expect } from 'chai'
import { CHAPTERS } from './kubectl-chapters.ts'
import { embeddedServer, realServer, type Server } from './servers.ts'
import { runChapter, type Terminal, transcript } from './shell.ts'

describe('kubectl', function () {
  this.timeout(300_000)
  let real: Server
  let embedded: Server

  before(async () => {
    ;[real, embedded] = await Promise.all([realServer(), embeddedServer()])
  })

  after(async () => {
    await real?.stop()
    await embedded?.stop()
  })

  for (const [title, lines] of Object.entries(CHAPTERS)) {
    it(`shows the same on both servers: ${title}`, async () => {
      const namespace = title.replace(/[^a-z]+/g, '-')
      const on = (terminal: Terminal) => runChapter(terminal, namespace, lines)
      const [expected, seen] = await Promise.all([on(real), on(embedded)])
      for (const [i, each] of expected.entries()) expect(transcript(seen[i]!)).to.equal(transcript(each))
    })
  }
})

// Turns the output of `go run .` into lib/embedded/builtin/shapes/data.ts: node write.mjs < shapes.txt
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

const data = brotliCompressSync(readFileSync(0), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).toString('base64')
const lines = data.match(/.{1,120}/g).map((line) => `  '${line}',`)
writeFileSync(
  new URL('../../lib/embedded/builtin/shapes/data.ts', import.meta.url),
  `/** Recorded by scripts/record-shapes from Kubernetes 1.36.3. Brotli, base64; shape.ts tells the format. */
export const SHAPES = [
${lines.join('\n')}
].join('')
`,
)

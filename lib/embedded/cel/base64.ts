/** Standard base64 with padding, as Go decodes it: line breaks are skipped, anything else out of place is an error. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const plain = text.replace(/[\r\n]/g, '')
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(plain)) return undefined
  return new Uint8Array(Buffer.from(plain, 'base64'))
}

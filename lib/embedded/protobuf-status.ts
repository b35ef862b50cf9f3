/** The one answer in protobuf: an error for a client that takes nothing else. It is told so in its own words. */
import { integerField, messageField, textField, Writer } from './protobuf-writer.ts'
import { type AnswerHeaders, commonHeaders } from './respond.ts'
import type { ApiError, StatusDetails } from './status.ts'
import type { ApiResponse } from './types.ts'

const MEDIA_TYPE = 'application/vnd.kubernetes.protobuf'

export function wantsOnlyProtobuf(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes(MEDIA_TYPE)) return false
  return accept.split(',').every((clause) => (clause.split(';')[0] ?? '').trim() === MEDIA_TYPE)
}

export function protobufError(error: ApiError, extra: AnswerHeaders): ApiResponse {
  const headers = commonHeaders(MEDIA_TYPE, extra)
  const retry = error.details?.retryAfterSeconds
  if (retry !== undefined && retry > 0) headers['retry-after'] = String(retry)
  return { status: error.code, headers, body: Buffer.concat([Buffer.from('k8s\0'), envelope(error)]) }
}

/** `runtime.Unknown` around `metav1.Status`; as Go does, with the fields that are empty. */
function envelope(error: ApiError): Buffer {
  const writer = new Writer()
  messageField(writer, 1, (type) => {
    textField(type, 1, 'v1')
    textField(type, 2, 'Status')
  })
  messageField(writer, 2, (status) => {
    messageField(status, 1, (metadata) => {
      textField(metadata, 1, '')
      textField(metadata, 2, '')
      textField(metadata, 3, error.continue ?? '')
    })
    textField(status, 2, 'Failure')
    textField(status, 3, error.message)
    textField(status, 4, error.reason)
    const { details } = error
    if (details !== undefined) messageField(status, 5, (to) => writeDetails(to, details))
    integerField(status, 6, error.code)
  })
  textField(writer, 3, '')
  textField(writer, 4, '')
  return writer.done()
}

function writeDetails(to: Writer, { name = '', group = '', kind = '', causes = [], retryAfterSeconds = 0, uid = '' }: StatusDetails): void {
  textField(to, 1, name)
  textField(to, 2, group)
  textField(to, 3, kind)
  for (const { reason = '', message = '', field = '' } of causes) {
    messageField(to, 4, (cause) => {
      textField(cause, 1, reason)
      textField(cause, 2, message)
      textField(cause, 3, field)
    })
  }
  integerField(to, 5, retryAfterSeconds)
  textField(to, 6, uid)
}

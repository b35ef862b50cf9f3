/** The subresource `scale`. */
import { methodNotAllowed } from '../status.ts'
import type { ApiResponse } from '../types.ts'
import type { Call } from '../verbs.ts'

export function scaleVerb(_call: Call): ApiResponse {
  throw methodNotAllowed()
}

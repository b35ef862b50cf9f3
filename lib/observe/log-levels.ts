/** The words of `--log-level` and `--log-format`; on their own, so that naming them does not load the logger. */

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export const logFormats = ['pretty', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

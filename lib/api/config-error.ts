/** Something in the configuration is wrong or missing. The message is one line: what, where, and what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Reads Prometheus' text format, as far as tests need it. */

export interface Sample {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, metric = '', labels = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (metric === '') throw new Error(`no sample: ${line}`)
      const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', text = '']) => [name, text])
      return { metric, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) }
    })
}

/** The sum of the samples that have these labels; undefined where there is none. */
export function sampleValue(text: string, metric: string, labels: Readonly<Record<string, string>>): number | undefined {
  const found = samplesOf(text).filter(
    (sample) => sample.metric === metric && Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

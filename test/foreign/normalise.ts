/** What differs between two runs on one server is written the same. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, 'TIME'],
  [/^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, ''],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, 'TIME'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ \d\d:\d\d:\d\d \d{4}/g, 'TIME'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4} UTC/g, 'TIME'],
  [/Resource Version: +\d+/g, 'Resource Version: N'],
  [/"resourceVersion": "\d+"/g, '"resourceVersion": "N"'],
  [/resourceVersion: "\d+"/g, 'resourceVersion: "N"'],
  [/"resourceVersion":"\d+"/g, '"resourceVersion":"N"'],
  // kubectl writes how long it waited, and ages.
  [/\b(\d+m)?\d+(\.\d+)?s\b/g, 'AGE'],
  [/<invalid>/g, 'AGE'],
  [/\(x\d+ over AGE\)/g, ''],
  [/\bhttps?:\/\/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/\b127\.0\.0\.1:\d+/g, 'SERVER'],
  [/\b10\.\d+\.\d+\.\d+\b(?!\/)/g, 'IP'],
  [/(\b80:|\b)3[0-2]\d{3}(?=\/TCP)/g, '$1NODEPORT'],
  // Pods and replica sets have names made of a hash and of chance, both of letters that make no words.
  [/-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-HASH-RANDOM'],
  [/-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/g, '-HASH'],
  [/\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'kube-api-access-RANDOM'],
  [/pod-template-hash([=:])\s*"?[0-9a-z]+"?/g, 'pod-template-hash$1HASH'],
  [/\/tmp\/kubectl-edit-\d+/g, '/tmp/kubectl-edit-RANDOM'],
  // Columns are as wide as what stands in them.
  [/(?<=\S) {2,}/g, '  '],
  [/[ \t]+$/gm, ''],
]

export function normalise(text: string): string {
  return sortedCauses(RULES.reduce((now, [pattern, instead]) => now.replace(pattern, instead), text))
}

/** A real server finds the faults of a custom resource in any order. */
function sortedCauses(text: string): string {
  return text.replace(/(^\* .*\n){2,}/gm, (causes) => `${causes.trimEnd().split('\n').sort().join('\n')}\n`)
}

/** Decorators where no handler method can be. Prints what `collect` says of each class. */

import { collect } from '../../../lib/decorators/collect.ts'
import { kind, onReconcile } from '../../../lib/index.ts'

const Thing = kind('example.com/v1', 'Thing')
/** The type checker refuses all of them. */
const anywhere = onReconcile(Thing) as (...args: unknown[]) => never

class Static {
  @anywhere static reconcile() {}
  other() {}
}
class Private {
  @anywhere #reconcile() {}
  call = () => this.#reconcile()
}
class Getter {
  @anywhere get reconcile() {
    return 5
  }
}
class Field {
  @anywhere reconcile = () => {}
}
class Accessor {
  @anywhere accessor reconcile = 5
}
class Named {
  @anywhere [Symbol.for('reconcile')]() {}
}
@anywhere
class Whole {}

class Beside extends Private {
  @onReconcile(Thing) reconcile() {}
}

for (const cls of [Static, Private, Getter, Field, Accessor, Named, Whole, Beside]) {
  try {
    collect(cls, { file: 'a.ts' })
    process.stdout.write(`${cls.name} passed\n`)
  } catch (error) {
    process.stdout.write(`${(error as Error).message}\n`)
  }
}

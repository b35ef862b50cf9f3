/**
 * What tests of operators import from 'tsop/testing': an API server and the operator under test, both in the process of the test.
 * It needs no test framework and works with any.
 */

export type { Fault, FaultStatus, FaultVerb } from '../embedded/faults.ts'
export type { PodFailure, SimulationOptions } from '../embedded/simulate/options.ts'
export { condition, ready } from './conditions.ts'
export { type EmbeddedOptions, embedded, type TestClock, type TestCluster, type UntilOptions } from './embedded.ts'
export type { FaultTarget, FaultTimesTarget, TestFaults } from './faults.ts'
export type { Handlers } from './handlers.ts'
export type { LogLine } from './log-lines.ts'
export type { LoggedRequest, RequestVerb } from './requests.ts'
export { assertRoundTrips, type RoundTripOptions } from './round-trips.ts'

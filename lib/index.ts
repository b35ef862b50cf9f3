/**
 * tsop's public API: what a handler file imports from 'tsop'. References to the built-in kinds are in 'tsop/kinds'.
 */

/** zod, the very instance that `import { z } from 'zod'` gives. */
export { z } from 'zod'
export {
  ConnectionError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTransient,
  isUnauthorized,
  type StatusDetails,
  StatusError,
  TimeoutError,
} from './api/status-error.ts'
export { type Defaulted, type DefaultMethod, defaults } from './decorators/defaults.ts'
export { HandlerError, isHandlerError, type Problem } from './decorators/handler-error.ts'
export type { HandlerDecorator } from './decorators/method-decorator.ts'
export { type DeleteOptions, onDelete } from './decorators/on-delete.ts'
export { onReconcile, type ReconcileMethod } from './decorators/on-reconcile.ts'
export { type Built, type OwnsDecorator, type OwnsOptions, owns } from './decorators/owns.ts'
export { type ValidateMethod, type Verdict, validates } from './decorators/validates.ts'
export { type WatchMethod, watches } from './decorators/watches.ts'
export { type ErrorCode, isTerminalError, TerminalError, TsopError } from './engine/errors.ts'
export { requeueAfter, type WaitReason } from './engine/outcome.ts'
export type { AdmissionContext, RequestUser } from './resource/admission-context.ts'
export type {
  Conditions,
  Context,
  External,
  ExternalCall,
  ExternalJob,
  ExternalState,
  ReadOptions,
  RetryOptions,
  StatusDraft,
  WatchContext,
  WatchKeys,
} from './resource/context.ts'
export type {
  Applied,
  ClientApplyOptions,
  ClientDeleteOptions,
  ClientGetOptions,
  ClientListOptions,
  ClientWriteOptions,
  ContextClient,
  JsonPatchOperation,
  Patch,
} from './resource/context-client.ts'
export { type Conversion, ConversionError, type Converted, type Convertible } from './resource/conversion.ts'
export type { PrinterColumn, Scale, Validation, VersionDefinition } from './resource/crd-version.ts'
export type {
  AdmissionOptions,
  DefaultsOptions,
  Duration,
  ReconcileOptions,
  Use,
  ValidatesOptions,
  WatchOptions,
} from './resource/handler-spec.ts'
export { Invalid, type InvalidOptions, type InvalidReason } from './resource/invalid.ts'
export {
  type Condition,
  type CustomResourceDefinition,
  type Desired,
  type DesiredMeta,
  type KindRef,
  type KubeObject,
  kind,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  type Resource,
} from './resource/kind.ts'
export type { Log } from './resource/log.ts'
export type { KubernetesMeta } from './resource/meta.ts'
export type { RequeueAfter, Result } from './resource/outcome.ts'
export {
  type CustomResource,
  type OtherVersion,
  type ResourceDefinition,
  type ResourceKind,
  resource,
} from './resource/resource.ts'
export { type ForeignKind, type ForeignObject, resourceFrom } from './resource/resource-from.ts'
export type { FieldSelector, LabelRequirement, LabelSelector, Selector } from './resource/selector.ts'

export { bigints, byteas, integers, jsons, texts, timestamps, uuids } from './arrays.js';
export { askedAtStart } from './at-start.js';
export { Clock } from './clock.js';
export { DATA_SOURCE, Database, type OrganizationScope } from './database.js';
export { dataSourceOf, type DataSourceSettings } from './data-source.js';
export { DatabaseModule, type DatabaseModuleOptions } from './database.module.js';
export {
  DatabaseUnavailable,
  isDatabaseUnavailable,
  isTransient,
  postgresFailure,
  Superseded,
  type PostgresFailure,
} from './errors.js';
export { AnswerStore } from './idempotency/answer.store.js';
export type { BatchedCalls } from './idempotency/batched-calls.js';
export type { IdempotentAnswer } from './idempotency/idempotent-call.js';
export { IdempotentCalls } from './idempotency/idempotent-calls.js';
export type { CallDigests, IdempotentCall, KeptAnswer, KeptAnswers } from './idempotency/kept-answers.js';
export { isUuid, newId, timeOfId } from './ids.js';
export { Retention, retentionOf, type RetentionOptions } from './jobs/retention.js';
export { pageOf, pageOfOwners, pageOfSelects, type PageOptions } from './lists/page-of.js';
export { reencrypt, type ReencryptedColumn } from './reencryption/reencryption.js';
export { sealedSigningKeys, type SealedColumn, type SealedRow } from './reencryption/sealed-column.js';
export { KeySeal } from './signing-keys/key-seal.js';
export { SigningKeysModule } from './signing-keys/signing-keys.module.js';
export { signingKeysTable } from './signing-keys/signing-keys.table.js';
export {
  sealOfSigningKeys,
  SIGNING_ALGORITHM,
  SigningKeys,
  type ListedKey,
  type SigningAlgorithm,
  type SigningKey,
} from './signing-keys/signing-keys.js';
export { createIndexConcurrently } from './migrations/concurrent-index.js';
export {
  consumerPositionsTable,
  dropPlatformTables,
  packedOutbox,
  platformTables,
  unpackedOutbox,
} from './migrations/platform-tables.js';
export {
  provisionDatabase,
  type ProvisionedDatabase,
  type ProvisionOptions,
} from './migrations/provision.js';
export {
  appendOnly,
  rowSecurity,
  settingsReadOnce,
  settingsReadPerRow,
  workersSee,
  type RowSecurity,
} from './migrations/row-security.js';
export {
  appRoleOf,
  execute,
  revertMigrations,
  runMigrations,
  type MigrationClass,
  type MigrationOptions,
} from './migrations/run-migrations.js';
export { steadyStatistics, usualStatistics } from './migrations/seed-statistics.js';
export { referencesToOrganization, type HeldTable } from './references/organization-references.js';
export { ReferenceHolds, type HeldResource } from './references/reference-holds.js';
export { dropReferenceHoldsTable, referenceHoldsTable } from './references/reference-holds.table.js';
export { ReferencesModule } from './references/references.module.js';
export type { ReferencesModuleOptions, ReferenceSource } from './references/references.options.js';
export { RemoteReferences, type RemoteHold } from './references/remote-references.js';
export {
  ChangeRecorder,
  type ChangeEvent,
  type ChangeVerb,
  type RecordedChange,
} from './resources/change-recorder.js';
export {
  constraintProblem,
  duplicateValue,
  resourceReferenced,
  violatedUnique,
  type ConstraintMap,
  type ReferenceCount,
  type ReferencingConstraint,
  type UniqueConstraint,
} from './resources/constraints.js';
export { versionTag } from './resources/etag.js';
export { mergePatch, sameJson, Whole } from './resources/merge-patch.js';
export type {
  ChangeOptions,
  LocalReference,
  ResourceChange,
  ResourceDefinition,
  SoftDeletable,
  Visibility,
} from './resources/resource-definition.js';
export { ResourceStore, type Patch, type UpdateOptions } from './resources/resource-store.js';
export { ResourceStores } from './resources/resource-stores.js';
export { OrganizationRetention, organizationRetention } from './retention/organization-retention.js';
export {
  gapOf,
  removalOf,
  RETENTION_KINDS,
  type Piece,
  type PieceRow,
  type Removal,
  type RetainedKind,
  type RetentionDays,
  type RetentionGap,
  type RetentionKind,
  type RetentionPage,
} from './retention/retention-kinds.js';
export { retentionPeriodsTable } from './retention/retention-periods.table.js';
export { SubjectRowsModule } from './subject-rows/subject-rows.module.js';
export {
  SubjectRows,
  type SubjectPage,
  type SubjectPlace,
  type SubjectQuestion,
} from './subject-rows/subject-rows.js';
export { MOST_CONTACTS } from './subject-rows/subject-rows.dto.js';
export type { SubjectTable } from './subject-rows/subject-table.js';
export { SnakeCaseNaming } from './snake-case.naming.js';
export type { Transaction, WorkerTransaction } from './transaction.js';

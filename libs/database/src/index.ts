export { bigints, byteas, integers, jsons, texts, timestamps, uuids } from './arrays.js';
export { askedAtStart } from './at-start.js';
export { AudienceModule } from './audience/audience.module.js';
export type { AudienceMember, AudiencePage, AudienceSource } from './audience/audiences.js';
export { afterLocks, Clock } from './clock.js';
export { Database, type OrganizationScope } from './database.js';
export { dataSourceOf } from './data-source.js';
export { DatabaseModule } from './database.module.js';
export {
  DatabaseUnavailable,
  isAway,
  isDatabaseUnavailable,
  isTransient,
  postgresFailure,
  ranOut,
  Superseded,
  WriteConflict,
} from './errors.js';
export type { BatchedCalls } from './idempotency/batched-calls.js';
export { IdempotentCalls } from './idempotency/idempotent-calls.js';
export type { CallDigests, IdempotentCall, KeptAnswer, KeptAnswers } from './idempotency/kept-answers.js';
export { newId, timeOfId } from './ids.js';
export { isUuid } from '@customer-platform/http';
export { Installation, type MarkedPlace } from './installation/installation.js';
export { OtherInstallation } from './installation/other-installation.js';
export { ItemJob } from './jobs/item-job.js';
export { OrganizationTurns } from './jobs/organization-turns.js';
export { Retention, retentionOf, type RetentionOptions } from './jobs/retention.js';
export { checkedCollationVersion } from './lists/collation-version.js';
export { pageOf, pageOfOwners, pageOfSelects } from './lists/page-of.js';
export { pageUntilEnd } from './lists/page-until-end.js';
export { reencrypt, type ReencryptedColumn } from './reencryption/reencryption.js';
export { sealedSigningKeys, type SealedColumn } from './reencryption/sealed-column.js';
export { KeySeal } from './signing-keys/key-seal.js';
export { SigningKeysModule } from './signing-keys/signing-keys.module.js';
export { signingKeysTable } from './signing-keys/signing-keys.table.js';
export {
  placeOfSigningKey,
  sealOfSigningKeys,
  SIGNING_ALGORITHM,
  SigningKeys,
  type SigningAlgorithm,
  type SigningKey,
} from './signing-keys/signing-keys.js';
export {
  createTextCollations,
  dropIndexesByLanguage,
  dropTextCollations,
  indexByLanguage,
} from './migrations/text-collations.js';
export { createIndexConcurrently } from './migrations/concurrent-index.js';
export {
  consumerPositionsTable,
  dropPlatformTables,
  installationTable,
  packedOutbox,
  platformTables,
  parkedProofs,
  dropParkedProofs,
  unpackedOutbox,
} from './migrations/platform-tables.js';
export { provisionDatabase, type ProvisionedDatabase } from './migrations/provision.js';
export {
  appendOnly,
  rowSecurity,
  settingsReadOnce,
  settingsReadPerRow,
  workersSee,
} from './migrations/row-security.js';
export {
  appRoleOf,
  execute,
  revertMigrations,
  runMigrations,
  type MigrationClass,
} from './migrations/run-migrations.js';
export { steadyStatistics, usualStatistics } from './migrations/seed-statistics.js';
export { referencesToOrganization } from './references/organization-references.js';
export { ReferenceHolds, type HeldResource } from './references/reference-holds.js';
export { dropReferenceHoldsTable, referenceHoldsTable } from './references/reference-holds.table.js';
export { ReferencesModule } from './references/references.module.js';
export type { ReferenceSource } from './references/references.options.js';
export { RemoteReferences } from './references/remote-references.js';
export {
  ChangeRecorder,
  type ChangeEvent,
  type ChangeVerb,
  type RecordedChange,
} from './resources/change-recorder.js';
export { duplicateValue, type ReferenceCount } from './resources/constraints.js';
export { versionTag } from './resources/etag.js';
export { mergePatch, sameJson, Whole } from './resources/merge-patch.js';
export type { ResourceChange, ResourceDefinition, SoftDeletable } from './resources/resource-definition.js';
export { ResourceStore, type Patch } from './resources/resource-store.js';
export { ResourceStores } from './resources/resource-stores.js';
export { OrganizationRetention, organizationRetention } from './retention/organization-retention.js';
export {
  gapOf,
  removalOf,
  type PieceRow,
  type RetainedKind,
  type RetentionDays,
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
export type { SubjectTable } from './subject-rows/subject-table.js';
export { TenantTallies, tenantTalliesTable, type TallyBounds } from './tallies/tenant-tallies.js';
export type { Promises } from './reads-at-once.js';
export type { Transaction, WorkerTransaction } from './transaction.js';
export { holdInTurn, keepInTurn } from './turn-locks.js';

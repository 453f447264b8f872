import type { MigrationClass } from '@customer-platform/database';
import { CreatePlatformTables1764000000000 } from './1764000000000-create-platform-tables.js';
import { CreateContacts1764000001000 } from './1764000001000-create-contacts.js';
import { CreateEvents1764000002000 } from './1764000002000-create-events.js';
import { CreateDeadLetters1764000003000 } from './1764000003000-create-dead-letters.js';
import { CreateUsage1764000004000 } from './1764000004000-create-usage.js';
import { AdministerContacts1764110000000 } from './1764110000000-administer-contacts.js';
import { CreateMerges1764110001000 } from './1764110001000-create-merges.js';
import { CreateMergeSuggestions1764110002000 } from './1764110002000-create-merge-suggestions.js';
import { IndexMergedContacts1764110003000 } from './1764110003000-index-merged-contacts.js';
import { CreateConsents1764200000000 } from './1764200000000-create-consents.js';
import { CreateSigningKeys1764210000000 } from './1764210000000-create-signing-keys.js';
import { CreateAuditLog1764210001000 } from './1764210001000-create-audit-log.js';
import { CreateMemberAssertions1764210002000 } from './1764210002000-create-member-assertions.js';
import { EndMemberTokens1764210003000 } from './1764210003000-end-member-tokens.js';
import { IndexIdentifies1764310000000 } from './1764310000000-index-identifies.js';
import { CreateSegments1764410000000 } from './1764410000000-create-segments.js';
import { KeepWhatIsLeft1764610000000 } from './1764610000000-keep-what-is-left.js';
import { KeepTheClockOfSegments1764611000000 } from './1764611000000-keep-the-clock-of-segments.js';
import { RemoveMembersLater1764680000000 } from './1764680000000-remove-members-later.js';
import { CreateReferenceHolds1764730070000 } from './1764730070000-create-reference-holds.js';
import { SteadyStatistics1766200000000 } from './1766200000000-steady-statistics.js';
import { OpenEventsToWorkers1766210000000 } from './1766210000000-open-events-to-workers.js';
import { CreateConsumerPositions1766700000000 } from './1766700000000-create-consumer-positions.js';
import { ShareRateLimits1766800000000 } from './1766800000000-share-rate-limits.js';
import { PartitionEvents1766900000000 } from './1766900000000-partition-events.js';
import { CreateSegmentEvaluators1766900100000 } from './1766900100000-create-segment-evaluators.js';
import { IndexYieldedIdentities1766900200000 } from './1766900200000-index-yielded-identities.js';
import { UnpackOutbox1767000100000 } from './1767000100000-unpack-outbox.js';
import { CreateInstances1767000200000 } from './1767000200000-create-instances.js';
import { CreateContactWords1767100000000 } from './1767100000000-create-contact-words.js';
import { FillContactWords1767100100000 } from './1767100100000-fill-contact-words.js';
import { IndexLastNames1767100200000 } from './1767100200000-index-last-names.js';
import { CreateEventStreams1767125000000 } from './1767125000000-create-event-streams.js';
import { IndexEventsByCreation1767125100000 } from './1767125100000-index-events-by-creation.js';
import { CreateSubjectRequests1767130000000 } from './1767130000000-create-subject-requests.js';
import { CreateAttributeDefinitions1767131000000 } from './1767131000000-create-attribute-definitions.js';
import { CreateTaxonomyInstallations1767132000000 } from './1767132000000-create-taxonomy-installations.js';
import { CreateImports1767133000000 } from './1767133000000-create-imports.js';
import { OpenImportErrorsToWorkers1767133500000 } from './1767133500000-open-import-errors-to-workers.js';
import { CreateSubjectArchives1767134000000 } from './1767134000000-create-subject-archives.js';
import { KeepWhoseNationalIdsArchivesHold1767134500000 } from './1767134500000-keep-whose-national-ids-archives-hold.js';
import { KeepPositionsOfErasures1767135000000 } from './1767135000000-keep-positions-of-erasures.js';
import { IndexWhatErasuresSeek1767135100000 } from './1767135100000-index-what-erasures-seek.js';
import { CompleteRequestsByHand1767139000000 } from './1767139000000-complete-requests-by-hand.js';
import { SumUsageForLess1767145000000 } from './1767145000000-sum-usage-for-less.js';
import { CreateRetention1767137000000 } from './1767137000000-create-retention.js';
import { IndexLettersByAge1767137100000 } from './1767137100000-index-letters-by-age.js';
import { ForgetValuesOfUndoneMerges1767146000000 } from './1767146000000-forget-values-of-undone-merges.js';
import { IndexDuesOfSegments1767147000000 } from './1767147000000-index-dues-of-segments.js';
import { KeepPositionsOfVerifications1767148000000 } from './1767148000000-keep-positions-of-verifications.js';
import { CreateInstallation1768388000000 } from './1768388000000-create-installation.js';
import { KeepProofsOfParkedEvents1768410000000 } from './1768410000000-keep-proofs-of-parked-events.js';
import { KeepProofsOfUnreadableRecords1768413000000 } from './1768413000000-keep-proofs-of-unreadable-records.js';
import { NoteTenantsOfImports1768428000000 } from './1768428000000-note-tenants-of-imports.js';
import { SortNamesByLanguage1768431000000 } from './1768431000000-sort-names-by-language.js';
import { KeepFormsOfImportedNumbers1768540100000 } from './1768540100000-keep-forms-of-imported-numbers.js';
import { NoteTenantsOfArchives1768933000000 } from './1768933000000-note-tenants-of-archives.js';
import { CreateTenantTallies1768941000000 } from './1768941000000-create-tenant-tallies.js';
import { NoteVerifiedRows1768941100000 } from './1768941100000-note-verified-rows.js';
import { IndexJobsByOrganization1769010000000 } from './1769010000000-index-jobs-by-organization.js';

/** Core's migrations, oldest first. */
export const CORE_MIGRATIONS: MigrationClass[] = [
  CreatePlatformTables1764000000000,
  CreateContacts1764000001000,
  CreateEvents1764000002000,
  CreateDeadLetters1764000003000,
  CreateUsage1764000004000,
  AdministerContacts1764110000000,
  CreateMerges1764110001000,
  CreateMergeSuggestions1764110002000,
  IndexMergedContacts1764110003000,
  CreateConsents1764200000000,
  CreateSigningKeys1764210000000,
  CreateAuditLog1764210001000,
  CreateMemberAssertions1764210002000,
  EndMemberTokens1764210003000,
  IndexIdentifies1764310000000,
  CreateSegments1764410000000,
  KeepWhatIsLeft1764610000000,
  KeepTheClockOfSegments1764611000000,
  RemoveMembersLater1764680000000,
  CreateReferenceHolds1764730070000,
  SteadyStatistics1766200000000,
  OpenEventsToWorkers1766210000000,
  CreateConsumerPositions1766700000000,
  ShareRateLimits1766800000000,
  PartitionEvents1766900000000,
  CreateSegmentEvaluators1766900100000,
  IndexYieldedIdentities1766900200000,
  UnpackOutbox1767000100000,
  CreateInstances1767000200000,
  CreateContactWords1767100000000,
  FillContactWords1767100100000,
  IndexLastNames1767100200000,
  CreateEventStreams1767125000000,
  IndexEventsByCreation1767125100000,
  CreateSubjectRequests1767130000000,
  CreateAttributeDefinitions1767131000000,
  CreateTaxonomyInstallations1767132000000,
  CreateImports1767133000000,
  OpenImportErrorsToWorkers1767133500000,
  CreateSubjectArchives1767134000000,
  KeepWhoseNationalIdsArchivesHold1767134500000,
  KeepPositionsOfErasures1767135000000,
  IndexWhatErasuresSeek1767135100000,
  CompleteRequestsByHand1767139000000,
  CreateRetention1767137000000,
  IndexLettersByAge1767137100000,
  SumUsageForLess1767145000000,
  ForgetValuesOfUndoneMerges1767146000000,
  IndexDuesOfSegments1767147000000,
  KeepPositionsOfVerifications1767148000000,
  CreateInstallation1768388000000,
  KeepProofsOfParkedEvents1768410000000,
  KeepProofsOfUnreadableRecords1768413000000,
  NoteTenantsOfImports1768428000000,
  SortNamesByLanguage1768431000000,
  KeepFormsOfImportedNumbers1768540100000,
  NoteTenantsOfArchives1768933000000,
  CreateTenantTallies1768941000000,
  NoteVerifiedRows1768941100000,
  IndexJobsByOrganization1769010000000,
];

import type { MigrationClass } from '@customer-platform/database';
import { CreatePlatformTables1764000000000 } from './1764000000000-create-platform-tables.js';
import { CreateContactRefs1764000001000 } from './1764000001000-create-contact-refs.js';
import { CreateReferenceHolds1764300000000 } from './1764300000000-create-reference-holds.js';
import { CreateNotes1764300001000 } from './1764300001000-create-notes.js';
import { CreateActivityTypes1764660000000 } from './1764660000000-create-activity-types.js';
import { CreateActivities1764660001000 } from './1764660001000-create-activities.js';
import { CreateLists1764660002000 } from './1764660002000-create-lists.js';
import { CreateErasureReceipts1764680000000 } from './1764680000000-create-erasure-receipts.js';
import { SteadyStatistics1766200000000 } from './1766200000000-steady-statistics.js';
import { OpenContactsToWorkers1766210000000 } from './1766210000000-open-contacts-to-workers.js';
import { CreateConsumerPositions1766700000000 } from './1766700000000-create-consumer-positions.js';
import { UnpackOutbox1767000100000 } from './1767000100000-unpack-outbox.js';
import { CreateObjects1767200000000 } from './1767200000000-create-objects.js';
import { UnboundListCounts1767300000000 } from './1767300000000-unbound-list-counts.js';
import { CreateContactRecordJobs1768200000000 } from './1768200000000-create-contact-record-jobs.js';
import { IndexMergedContacts1768200001000 } from './1768200001000-index-merged-contacts.js';
import { CreateInstallation1768388000000 } from './1768388000000-create-installation.js';
import { IndexMovedRows1768400000000 } from './1768400000000-index-moved-rows.js';
import { KeepProofsOfParkedEvents1768410000000 } from './1768410000000-keep-proofs-of-parked-events.js';
import { SortNamesByLanguage1768431000000 } from './1768431000000-sort-names-by-language.js';
import { SortRecordsByLanguage1768442000000 } from './1768442000000-sort-records-by-language.js';
import { IndexRecordJobsByOrganization1769010000000 } from './1769010000000-index-record-jobs-by-organization.js';

/** The migrations of crm, oldest first. */
export const CRM_MIGRATIONS: MigrationClass[] = [
  CreatePlatformTables1764000000000,
  CreateContactRefs1764000001000,
  CreateReferenceHolds1764300000000,
  CreateNotes1764300001000,
  CreateActivityTypes1764660000000,
  CreateActivities1764660001000,
  CreateLists1764660002000,
  CreateErasureReceipts1764680000000,
  SteadyStatistics1766200000000,
  OpenContactsToWorkers1766210000000,
  CreateConsumerPositions1766700000000,
  UnpackOutbox1767000100000,
  CreateObjects1767200000000,
  UnboundListCounts1767300000000,
  CreateContactRecordJobs1768200000000,
  IndexMergedContacts1768200001000,
  CreateInstallation1768388000000,
  IndexMovedRows1768400000000,
  KeepProofsOfParkedEvents1768410000000,
  SortNamesByLanguage1768431000000,
  SortRecordsByLanguage1768442000000,
  IndexRecordJobsByOrganization1769010000000,
];

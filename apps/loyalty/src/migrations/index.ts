import { CreatePlatformTables1763715600000 } from './1763715600000-create-platform-tables.js';
import { CreateContactRefs1763715601000 } from './1763715601000-create-contact-refs.js';
import { CreateRules1763715602000 } from './1763715602000-create-rules.js';
import { CreateLedger1763715603000 } from './1763715603000-create-ledger.js';
import { CreateReferenceHolds1764110000000 } from './1764110000000-create-reference-holds.js';
import { IndexOpenLots1764670040000 } from './1764670040000-index-open-lots.js';
import { CreateErasureReceipts1764680000000 } from './1764680000000-create-erasure-receipts.js';
import { SteadyStatistics1764720000100 } from './1764720000100-steady-statistics.js';
import { OpenEventsToWorkers1766210000000 } from './1766210000000-open-events-to-workers.js';
import { CreateConsumerPositions1766700000000 } from './1766700000000-create-consumer-positions.js';
import { UnpackOutbox1767000100000 } from './1767000100000-unpack-outbox.js';
import { CheckLedgerByStatement1767270000000 } from './1767270000000-check-ledger-by-statement.js';
import { FindLedgerBySchema1767280000000 } from './1767280000000-find-ledger-by-schema.js';

import { CountEarnedPoints1768100000000 } from './1768100000000-count-earned-points.js';
import { FillEarnedPoints1768300000000 } from './1768300000000-fill-earned-points.js';
import { CreateInstallation1768388000000 } from './1768388000000-create-installation.js';
import { KeepProofsOfParkedEvents1768410000000 } from './1768410000000-keep-proofs-of-parked-events.js';
import { CreateTombstoneRows1768410000000 } from './1768410000000-create-tombstone-rows.js';
import { FillTombstoneRows1768410001000 } from './1768410001000-fill-tombstone-rows.js';
import { IndexRulesByDeletion1768428000000 } from './1768428000000-index-rules-by-deletion.js';
import { SortNamesByLanguage1768431000000 } from './1768431000000-sort-names-by-language.js';
import { IndexEndingLotsByOrganization1769010000000 } from './1769010000000-index-ending-lots-by-organization.js';

/** All of the module's migrations, in their order. */
export const migrations = [
  CreatePlatformTables1763715600000,
  CreateContactRefs1763715601000,
  CreateRules1763715602000,
  CreateLedger1763715603000,
  CreateReferenceHolds1764110000000,
  IndexOpenLots1764670040000,
  CreateErasureReceipts1764680000000,
  SteadyStatistics1764720000100,
  OpenEventsToWorkers1766210000000,
  CreateConsumerPositions1766700000000,
  UnpackOutbox1767000100000,
  CheckLedgerByStatement1767270000000,
  FindLedgerBySchema1767280000000,
  CountEarnedPoints1768100000000,
  FillEarnedPoints1768300000000,
  CreateInstallation1768388000000,
  CreateTombstoneRows1768410000000,
  KeepProofsOfParkedEvents1768410000000,
  FillTombstoneRows1768410001000,
  IndexRulesByDeletion1768428000000,
  SortNamesByLanguage1768431000000,
  IndexEndingLotsByOrganization1769010000000,
];

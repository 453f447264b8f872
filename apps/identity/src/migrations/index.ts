import type { MigrationClass } from '@customer-platform/database';
import { CreatePlatformTables1763715600000 } from './1763715600000-create-platform-tables.js';
import { CreateOrganizations1763715601000 } from './1763715601000-create-organizations.js';
import { CreateRoles1763715602000 } from './1763715602000-create-roles.js';
import { CreateApiKeys1763715603000 } from './1763715603000-create-api-keys.js';
import { RaiseEpochs1763715604000 } from './1763715604000-raise-epochs.js';
import { CreatePeople1764500000000 } from './1764500000000-create-people.js';
import { CreateSigningKeys1764500001000 } from './1764500001000-create-signing-keys.js';
import { CreateRecoveryCodes1764500002000 } from './1764500002000-create-recovery-codes.js';
import { CreateInvitations1764620000000 } from './1764620000000-create-invitations.js';
import { RememberInterruptions1764710300000 } from './1764710300000-remember-interruptions.js';
import { RaiseEpochsBelow1764900200000 } from './1764900200000-raise-epochs-below.js';
import { CreateConsumerPositions1766700000000 } from './1766700000000-create-consumer-positions.js';
import { UnpackOutbox1767000100000 } from './1767000100000-unpack-outbox.js';
import { CreateOAuthClients1767101000000 } from './1767101000000-create-oauth-clients.js';
import { CreateOAuthState1767101100000 } from './1767101100000-create-oauth-state.js';
import { IndexSessionsByClient1767101200000 } from './1767101200000-index-sessions-by-client.js';
import { CreateSignIns1767102000000 } from './1767102000000-create-sign-ins.js';
import { CreatePasswordResets1767103000000 } from './1767103000000-create-password-resets.js';
import { CreateSsoConnections1767104000000 } from './1767104000000-create-sso-connections.js';
import { RememberConnections1767104010000 } from './1767104010000-remember-connections.js';
import { BoundSignIns1767111000000 } from './1767111000000-bound-sign-ins.js';
import { RepeatRefreshesOnce1767111100000 } from './1767111100000-repeat-refreshes-once.js';
import { RaiseEpochsOfThoseServed1767111200000 } from './1767111200000-raise-epochs-of-those-served.js';
import { CreateImpersonations1767113000000 } from './1767113000000-create-impersonations.js';
import { RememberSites1767114000000 } from './1767114000000-remember-sites.js';
import { BoundSignInsOfSites1767114100000 } from './1767114100000-bound-sign-ins-of-sites.js';
import { IndexOpenAndEndedSessions1767122000000 } from './1767122000000-index-open-and-ended-sessions.js';
import { IndexSsoRequestsByInteraction1767123000000 } from './1767123000000-index-sso-requests-by-interaction.js';
import { CreateInstallation1768388000000 } from './1768388000000-create-installation.js';
import { KeepProofsOfParkedEvents1768410000000 } from './1768410000000-keep-proofs-of-parked-events.js';
import { RememberFactorsAndEnforcement1768412000000 } from './1768412000000-remember-factors-and-enforcement.js';
import { RememberHowFreshASignInIsToBe1768422000000 } from './1768422000000-remember-how-fresh-a-sign-in-is-to-be.js';
import { RememberKnownPlaces1768422100000 } from './1768422100000-remember-known-places.js';
import { RecheckSsoDomains1768428000000 } from './1768428000000-recheck-sso-domains.js';
import { LimitSessionsByScopes1768429000000 } from './1768429000000-limit-sessions-by-scopes.js';
import { CountWrongCodesByWay1768932000000 } from './1768932000000-count-wrong-codes-by-way.js';
import { KeepUpgradesFromMixing1768931000000 } from './1768931000000-keep-upgrades-from-mixing.js';
import { RememberZonesOfUsers1768441000000 } from './1768441000000-remember-zones-of-users.js';
import { CreateTenantTallies1767404100000 } from './1767404100000-create-tenant-tallies.js';
import { RememberAuthTimes1767124000000 } from './1767124000000-remember-auth-times.js';
import { SortNamesByLanguage1768431000000 } from './1768431000000-sort-names-by-language.js';

/** All migrations of identity, oldest first. */
export const migrations: MigrationClass[] = [
  CreatePlatformTables1763715600000,
  CreateOrganizations1763715601000,
  CreateRoles1763715602000,
  CreateApiKeys1763715603000,
  RaiseEpochs1763715604000,
  CreatePeople1764500000000,
  CreateSigningKeys1764500001000,
  CreateRecoveryCodes1764500002000,
  CreateInvitations1764620000000,
  RememberInterruptions1764710300000,
  RaiseEpochsBelow1764900200000,
  CreateConsumerPositions1766700000000,
  UnpackOutbox1767000100000,
  CreateOAuthClients1767101000000,
  CreateOAuthState1767101100000,
  IndexSessionsByClient1767101200000,
  CreateSignIns1767102000000,
  CreatePasswordResets1767103000000,
  CreateSsoConnections1767104000000,
  RememberConnections1767104010000,
  BoundSignIns1767111000000,
  RepeatRefreshesOnce1767111100000,
  RaiseEpochsOfThoseServed1767111200000,
  CreateImpersonations1767113000000,
  RememberSites1767114000000,
  BoundSignInsOfSites1767114100000,
  IndexOpenAndEndedSessions1767122000000,
  IndexSsoRequestsByInteraction1767123000000,
  RememberAuthTimes1767124000000,
  CreateTenantTallies1767404100000,
  CreateInstallation1768388000000,
  KeepProofsOfParkedEvents1768410000000,
  RememberFactorsAndEnforcement1768412000000,
  RememberHowFreshASignInIsToBe1768422000000,
  RememberKnownPlaces1768422100000,
  RecheckSsoDomains1768428000000,
  LimitSessionsByScopes1768429000000,
  SortNamesByLanguage1768431000000,
  RememberZonesOfUsers1768441000000,
  KeepUpgradesFromMixing1768931000000,
  CountWrongCodesByWay1768932000000,
];

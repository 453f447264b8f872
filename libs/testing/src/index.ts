export { buildAll, cacheFolder, freePorts, runScript, WORKSPACE } from './app-process.js';
export { axeFindings } from './axe.js';
export {
  failuresOf,
  itHoldsUpNoOther,
  type BackgroundWorkOptions,
  type WorkingModule,
  type WorkScenario,
} from './background-work.suite.js';
export { behindLock } from './behind-lock.js';
export { consumedEvents, followedContacts, outboxRows } from './consumed-events.js';
export { ID_EDGES, INSTANT_EDGES, NUMBER_EDGES, TEXT_EDGES } from './edges.js';
export { itGoesOnBehindEveryEdge } from './event-edges.suite.js';
export { startChromium, type Browser, type Page } from './chromium.js';
export { Caller, type Answer } from './caller.js';
export { expectChildrenShare } from './children-share-a-bound.js';
export { DatabaseFault, type Fault } from './database-fault.js';
export { TcpLink } from './tcp-link.js';
export { DnsServer } from './dns-server.js';
export { draws } from './property-runs.js';
export { contactChange, domainEvent, type ProbeEvent } from './domain-event.js';
export { eventually } from './eventually.js';
export { EventReader } from './event-reader.js';
export { expectEveryTableIsolated } from './expect-every-table-isolated.js';
export { expectForeignKeysSeek } from './expect-foreign-keys-seek.js';
export { expectMigrationsReversible } from './expect-migrations-reversible.js';
export { aContext, anOrganization } from './fixtures.js';
export { HOSTILE_LITERALS, MALFORMED } from './hostile-urls.js';
export { InternalPeer, type InternalAnswer } from './internal-peer.js';
export {
  END_WITHIN_MS,
  MODULES,
  PlatformUnderTest,
  START_WITHIN_MS,
  type Module,
  type Tenant,
} from './platform-under-test.js';
export { runtimes, wordsFor, type Runtime } from './programs.js';
export { describeWith, MissingProgram } from './missing-program.js';
export { postgresClient } from './postgres-client/postgres-client.js';
export { explained, rowsRead, rowsReadBy, type PlanNode } from './plan-node.js';
export { peerModule, serviceTokens } from './peer-module.js';
export { KafkaProbe, kafkaProbe } from './kafka-probe.js';
export { startS3, type S3Server } from './s3/s3-server.js';
export { startRedis, type RedisServer } from './redis/redis-server.js';
export { sharedBrowser, sharedPlatform } from './shared-platform.js';
export { proofBy, serviceKeys } from './service-keys.js';
export { TestAuthority, type TestFiles } from './test-authority.js';
export { TEST_CERTIFICATE } from './test-certificate.js';
export { ACTS as LIFE_ACTS, type Act } from './lives/acts.js';
export { addLetter } from './lives/letter.js';
export type { LifeRecord } from './lives/life-record.js';
export type { LifeOrganization, LifeWorld } from './lives/life-world.js';
export { live } from './lives/lives.js';
export { hasTwin } from './lives/people.js';
export { searchEverything } from './search-everything.js';
export { startTestApp, type TestApp } from './test-app.js';
export { startTestProcess, type TestProcess } from './test-process.js';
export { requiredVariable } from './required-variable.js';
export { retainedByAll, retainedRows, type RetainedRows } from './retained-rows.js';
export { testDatabase, type TestDatabase } from './test-database.js';
export { expectTenantTablesListed } from './tenant-tables/expect-tenant-tables-listed.js';
export { PlantedRows, type Planting } from './tenant-tables/planted-rows.js';
export { COUNTED, GOES, NOBODY, type TenantTables } from './tenant-tables/tenant-table.js';
export { askTimeline, type TimelineAnswer, type TimelineQuestion } from './timeline-parts.js';
export { totpCode } from './totp-code.js';
export { TestRegistry } from './test-registry.js';
export { itBehavesLikeASoftDeletableResource } from './behaves-like-a-soft-deletable-resource.js';
export {
  expectProblem,
  expectStatus,
  unknownId,
  type ProblemAnswer,
  type ResourceItem,
} from './soft-deletable-resource.js';

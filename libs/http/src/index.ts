export { clientAddress } from './context/client-address.js';
export { Places, tenantOf, type PlaceBounds, type PlaceOwner, type PlaceScope } from './context/places.js';
export { correlationIdOf, type Once } from './context/request-state.js';
export type {
  AcceptedCredential,
  Actor,
  AuthenticatedCaller,
  OrganizationSnapshot,
  RequestContext,
  RequestOrigin,
} from './context/request-context.js';
export { REFUSAL_RECORDER, type RefusalRecorder, type RefusedCall } from './context/refusals.js';
export {
  ApplicationPassport,
  CREDENTIAL_NAMES,
  type CallingModule,
  type CredentialName,
} from './credentials/application-passport.js';
export { bearerTokenOf } from './credentials/bearer-token.js';
export { CredentialStrategy, rawBodyOf } from './credentials/credential-strategy.js';
export { Answer } from './endpoints/answer.js';
export { etagOf, requireMatch } from './endpoints/etag.js';
export { Endpoint, type EndpointOptions } from './endpoints/endpoint.decorator.js';
export {
  CreateEndpoint,
  GetEndpoint,
  ListEndpoint,
  PurgeEndpoint,
  RestoreEndpoint,
  SoftDeleteEndpoint,
  UpdateEndpoint,
} from './endpoints/resource-endpoints.js';
export {
  AnyBody,
  Body,
  Authenticated,
  Context,
  CorrelationId,
  OptionalContext,
  Id,
  IdempotencyKey,
  ListRequest,
  ListRequestOf,
  type ListReader,
  OncePerKey,
  Origin,
  PathText,
  Query,
  RawBody,
} from './endpoints/parameter-decorators.js';
export { requireStanding } from './endpoints/endpoint.guard.js';
export { isOfOwnFactors } from './endpoints/route-declaration.js';
export { Cursors } from './lists/cursors.js';
export {
  mapPage,
  type FilterOp,
  type FilterSpec,
  type FilterType,
  type FilterValue,
  type ListDefinition,
  type ListFilter,
  type ListQuery,
  type ListSort,
  type Page,
  type SortSpec,
} from './lists/list-definition.js';
export { TEXT_COLLATIONS, type TextCollation } from './lists/text-collations.js';
export {
  listOfPart,
  newestOfParts,
  readAskedTimeline,
  readTimelineParts,
  TIMELINE_HEADER,
  TIMELINE_START,
  TIMELINE_TYPE,
  timelineHeader,
  writeTimelineParts,
  type AskedPart,
  type AskedTimeline,
  type TimelinePart,
  type TimelinePosition,
  type ToldPart,
} from './lists/timeline-parts.js';
export { parseFilters, parseListRequest } from './lists/parse-list-request.js';
export { queryParameters, refuseUnknown } from './reading/query-string.js';
export { formFields, parseForm, parseJsonBytes, readBytes, RequestAborted } from './reading/read-body.js';
export { isLongerThan } from './reading/bounds.js';
export { LONGEST_EMAIL, readEmail, readMailDomain, type EmailAddress } from './reading/email-address.js';
export { yieldLoop } from './reading/event-loop.js';
export {
  custom,
  IsImmutable,
  IsInstant,
  IsLocaleTag,
  IsTimeZoneName,
  IsUUID,
  IsWithoutRepeats,
  MayBeAbsent,
  MayBeNull,
} from './reading/field-decorators.js';
export { canonicalLocale } from './reading/locales.js';
export { matchedPhone, partsOfPhone, readPhone, type ReadPhone } from './reading/phones.js';
export { canonicalTimeZone, storedTimeZone } from './reading/time-zones.js';
export { identifierForms, plainIdentifier } from './reading/identifiers.js';
export { cutEnds, plainText } from './reading/texts.js';
export { PatchOf } from './reading/patch-of.js';
export { readNaturalKey } from './reading/natural-key.js';
export { checkFurther, inspect, validateBody } from './reading/validate-dto.js';
export { readPlainly } from './reading/read-plainly.js';
export { csvLine } from './csv/csv-line.js';
export { canonicalJson } from './json/canonical-json.js';
export { FORBIDDEN_KEYS, inspectJson, isStorableText } from './json/inspect-json.js';
export { endOfJsonString } from './json/count-values.js';
export { pointerToken } from './json/json-pointer.js';
export {
  compareValues,
  contains,
  inOrder,
  valueAt,
  type OrderComparison,
  type PathRules,
} from './json/compare-values.js';
export { containsText } from './json/contains-text.js';
export { isDay, parseInstant } from './json/parse-instant.js';
export { isUuid } from './json/uuids.js';
export {
  IDEMPOTENCY_STORE,
  type AnswerToKeep,
  type IdempotencyClaim,
  type IdempotencyScope,
  type IdempotencyStore,
  type StoredAnswer,
} from './idempotency/idempotency-store.js';
export { backgroundWork, type BackgroundWork } from './jobs/background-work.js';
export { Batcher } from './jobs/batcher.js';
export { FailingPieces, FailureAllowance } from './jobs/failing-pieces.js';
export { FailingTurns } from './jobs/failing-turns.js';
export { TurnLine, type KnownTenants } from './jobs/turn-line.js';
export { LatestTurns, type TurnOwner } from './jobs/latest-turns.js';
export { JobSignal } from './jobs/job-signal.js';
export { Pace } from './jobs/idle-backoff.js';
export { PollingJob } from './jobs/polling-job.js';
export { SteadyLoop } from './jobs/steady-loop.js';
export { turns, type Turn, type TurnsOptions } from './jobs/turns.js';
export { ItemBackoff } from './jobs/item-backoff.js';
export { WorkerJob, type WorkerJobOptions } from './jobs/worker-job.js';
export { answerError } from './problems/answer-problem.js';
export { answerClientError, rawProblem } from './problems/client-error.js';
export { toProblem } from './problems/to-problem.js';
export {
  currentCause,
  currentCorrelationId,
  noteOrganization,
  runWithCorrelation,
} from './observe/correlation.js';
export { log } from './observe/log.js';
export { traceHeaders } from './observe/tracing.js';
export { metrics } from './observe/metrics.js';
export { registerDependency } from './observe/dependencies.js';
export { registerReadiness } from './observe/readiness.js';
export { EventStream, serverSentText } from './streams/event-stream.js';
export { createApp, type BootOptions, type RunningApp } from './boot/create-app.js';
export { answerEarly, EARLY_ROUTE, type EarlyRoute } from './boot/early-route.js';
export { modulesTls } from './boot/modules-tls.js';
export { bootstrap } from './boot/bootstrap.js';
export { DRAINABLE, type Drainable } from './boot/drainable.js';
export { BootError, type ModuleName } from './boot/route-table.js';
export { SameAs } from './openapi/same-as.js';
export { openApiDocument, writeOpenApi } from './openapi/write-open-api.js';

import type { IncomingMessage } from 'node:http';
import { CredentialResolver } from '@customer-platform/authorization';
import { clientAddress, queryParameters, readBytes, refuseUnknown, tenantOf } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import { Injectable } from '@nestjs/common';
import { BatchRefused, BatchService, EVENT_BYTES } from './batch.service.js';
import { BATCH_LIMIT } from '../vocabulary/events/event-schemas.js';
import { FairShares } from './fair-shares/fair-shares.js';
import { IngestionService, type IngestionCaller } from './ingestion.service.js';
import { Refusals } from './refusals.js';

/** What `POST /v1/core/…` takes events. */
export type IngestionRoute = 'track' | 'identify' | 'batch';

/** What each route demands, and the bytes it takes after inflating. */
export const INGESTION_RULES: Readonly<
  Record<IngestionRoute, { permission: Permission; bodyLimit: number }>
> = {
  track: { permission: 'core.events.write', bodyLimit: EVENT_BYTES },
  identify: { permission: 'core.contacts.write', bodyLimit: EVENT_BYTES },
  batch: { permission: 'core.events.write', bodyLimit: 500 * 1024 },
};

/** A 202: its body as text, and its headers. */
export interface IngestionAnswer {
  readonly text: string;
  readonly headers: Record<string, string>;
  /** Numbers of events that were accepted, and judged. */
  readonly accepted: number;
  readonly looked: number;
}

/** One ingestion request from its first byte to its answer: authenticate → share → permit → read → accept. */
@Injectable()
export class IngestionRequests {
  constructor(
    private readonly resolver: CredentialResolver,
    private readonly events: IngestionService,
    private readonly batches: BatchService,
    private readonly refusals: Refusals,
    private readonly shares: FairShares,
  ) {}

  /**
   * Resolves when what was accepted is durable.
   * @throws Problem for every refusal; those after authentication are counted as refused events
   */
  async serve(route: IngestionRoute, request: IncomingMessage): Promise<IngestionAnswer> {
    const { authorization } = request.headers;
    const caller: IngestionCaller =
      this.resolver.peek(authorization) ??
      (await this.resolver.authenticate(authorization, {
        accepts: 'api_key',
        outlivesOutage: true,
        address: clientAddress(request),
      }));
    const share = this.shares.begin(tenantOf(caller));
    let [accepted, looked] = [0, 1];
    try {
      const answer = await this.accept(route, caller, request);
      ({ accepted, looked } = answer);
      return answer;
    } catch (error) {
      if (error instanceof BatchRefused) looked = Math.min(BATCH_LIMIT, error.events);
      const problem = error instanceof BatchRefused ? error.problem : error;
      if (problem instanceof Problem && problem.status < 500) {
        this.refusals.count(caller.organizationId, error instanceof BatchRefused ? error.events : 1);
      }
      throw problem;
    } finally {
      this.shares.end(share, accepted, looked);
    }
  }

  private async accept(
    route: IngestionRoute,
    caller: IngestionCaller,
    request: IncomingMessage,
  ): Promise<IngestionAnswer> {
    const { permission, bodyLimit } = INGESTION_RULES[route];
    if (!caller.permissions.has(permission)) {
      throw new Problem('permission_denied', {
        detail: `The permission ${permission} is needed.`,
        members: { permission },
      });
    }
    if (request.url?.includes('?')) {
      const names = queryParameters(request).map(({ name }) => name);
      refuseUnknown(names, []);
    }
    demandJson(request.headers['content-type']);
    const bytes = withoutMark(await readBytes(request, { body: 'raw', bodyLimit, gzip: true }));
    if (route === 'batch') return this.acceptBatch(caller, bytes);
    const { eventId, headers } = await this.events.accept(route, caller, bytes);
    // The correlation id of an ingested event is the event's own (contract.md §1).
    return {
      text: `{"event_id":"${eventId}"}`,
      headers: { ...headers, 'X-Correlation-Id': eventId },
      accepted: 1,
      looked: 1,
    };
  }

  private async acceptBatch(caller: IngestionCaller, bytes: Buffer): Promise<IngestionAnswer> {
    const { body, headers } = await this.batches.accept(caller, bytes);
    if (body.rejected > 0) this.refusals.count(caller.organizationId, body.rejected);
    const { accepted, rejected } = body;
    return { text: JSON.stringify(body), headers, accepted, looked: accepted + rejected };
  }
}

/** The bytes behind the byte order mark that editors and .NET put before UTF-8. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/i;
const UTF_8 = /^charset\s*=\s*"?utf-?8"?$/i;

function demandJson(contentType: string | undefined): void {
  if (contentType === 'application/json' || isJson(contentType ?? '')) return;
  throw new Problem('unsupported_media_type', { detail: 'This route takes application/json in UTF-8.' });
}

function isJson(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim());
  return JSON_TYPE.test(type) && parameters.every((text) => text === '' || UTF_8.test(text));
}

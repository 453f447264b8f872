import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider, Type } from '@nestjs/common';
import {
  answerEarly,
  clientAddress,
  EARLY_ROUTE,
  log,
  noteOrganization,
  readAskedTimeline,
  requireStanding,
  TIMELINE_TYPE,
  writeTimelineParts,
  type AskedTimeline,
  type EarlyRoute,
  type TimelinePart,
} from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import type { ResolvedCaller } from './caller.js';
import { CredentialResolver } from './credential-resolver.js';

/** A module's parts of timelines. */
export interface TimelineSource {
  /** The list that crm asks: of the first of the parts. */
  readonly path: string;
  /** The parts by their types, each under the permission of its own list. */
  readonly permissions: Readonly<Record<string, Permission>>;
  /** Reads parts that the caller may see. One that is left out is answered 404. */
  read(
    where: { readonly organizationId: string },
    asked: AskedTimeline,
  ): Promise<Readonly<Record<string, TimelinePart>>>;
}

/**
 * Answers crm all that the module has for a timeline at once, before Express (ADR 434). The rights are resolved here, part
 * by part, by the caller's own credential, as the lists of the parts do.
 */
export class TimelineRoute implements EarlyRoute {
  private readonly types: ReadonlySet<string>;

  constructor(
    private readonly resolver: CredentialResolver,
    private readonly source: TimelineSource,
  ) {
    this.types = new Set(Object.keys(source.permissions));
  }

  take(request: IncomingMessage, response: ServerResponse): boolean {
    const asked = readAskedTimeline(request, this.source.path, this.types);
    if (!asked) return false;
    answerEarly(request, response, async () => ({
      text: writeTimelineParts(asked, await this.read(await this.callerOf(request), asked)),
      type: TIMELINE_TYPE,
    })).catch((error: unknown) => {
      log.error({ err: error }, 'A timeline could not be answered');
      response.destroy();
    });
    return true;
  }

  private async callerOf(request: IncomingMessage): Promise<ResolvedCaller> {
    const { authorization } = request.headers;
    const known = this.resolver.peek(authorization);
    if (known) return known;
    const address = clientAddress(request);
    return this.resolver.authenticate(authorization, { accepts: 'api_key|user', address });
  }

  private async read(
    caller: ResolvedCaller,
    asked: AskedTimeline,
  ): Promise<Readonly<Record<string, TimelinePart>>> {
    noteOrganization(caller.organizationId);
    const answers: Record<string, TimelinePart> = {};
    const allowed: [string, AskedTimeline['parts'][string]][] = [];
    for (const [type, part] of Object.entries(asked.parts)) {
      const permission = this.source.permissions[type];
      requireStanding(caller, { permission });
      if (permission !== undefined && caller.permissions.has(permission)) allowed.push([type, part]);
      else answers[type] = { status: 403 };
    }
    if (allowed.length === 0) return answers;
    const parts = Object.fromEntries(allowed);
    const { organizationId } = caller;
    const told = await this.source.read({ organizationId }, { ...asked, parts });
    for (const [type] of allowed) answers[type] = told[type] ?? { status: 404 };
    return answers;
  }
}

/** Provides the route of what `source` reads. */
export function timelineRoute(source: Type<TimelineSource>): Provider {
  return {
    provide: EARLY_ROUTE,
    inject: [CredentialResolver, source],
    useFactory: (resolver: CredentialResolver, reads: TimelineSource) => new TimelineRoute(resolver, reads),
  };
}

import { Injectable } from '@nestjs/common';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, newId, type Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { RoutingService } from '../routing/routing.service.js';
import { TemplatesService } from '../templates/templates.service.js';
import {
  IDENTITY_TEMPLATES,
  IDENTITY_TEMPLATES_DEFAULT_LOCALE,
  type IdentityTemplate,
} from './identity-templates.js';

/**
 * Whoever comes at the same moment waits. A lock of its own: who writes a rule takes the lock of its limit first and the
 * organization's row last, and so does this.
 */
const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended('identity-messages:' || $1::text, 0))`;
/** An organization that has them, or had. */
const GIVEN = 'SELECT FROM organizations WHERE organization_id = $1 AND identity_messages_at IS NOT NULL';
const NOTE_GIVEN = `
INSERT INTO organizations AS known (organization_id, identity_messages_at) VALUES ($1, $2)
ON CONFLICT (organization_id) DO UPDATE SET identity_messages_at = excluded.identity_messages_at
 WHERE known.identity_messages_at IS NULL
RETURNING organization_id`;
const WITHOUT = `
SELECT id FROM unnest($1::uuid[]) AS id
 WHERE NOT EXISTS (SELECT FROM organizations
                    WHERE organization_id = id AND identity_messages_at IS NOT NULL)`;
/** An organization that has used a name already keeps it. */
const OTHER_NAMES = 5;

/**
 * Gives organizations the templates and rules by which identity writes to people (messaging.md §3): once, with all of
 * it or nothing. They are the organization's from then on, to change and to delete.
 */
@Injectable()
export class IdentityMessages {
  constructor(
    private readonly database: Database,
    private readonly templates: TemplatesService,
    private readonly routing: RoutingService,
    private readonly clock: Clock,
  ) {}

  /**
   * For those of the organizations that were never given them. Not only the founding of an organization leads here:
   * an invitation may be heard of before it, for they come by different ways.
   */
  async give(organizationIds: readonly string[]): Promise<void> {
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<{ id: string }>(WITHOUT, [[...new Set(organizationIds)]]),
    );
    for (const { id } of rows) {
      await this.database.joined({ organizationId: id }, (tx) => this.giveTo(tx, id));
    }
  }

  private async giveTo(tx: Transaction, organizationId: string): Promise<void> {
    await tx.query(TAKE_TURNS, [organizationId]);
    if ((await tx.query(GIVEN, [organizationId])).length > 0) return;
    const context = contextOf(organizationId);
    for (const template of IDENTITY_TEMPLATES) await this.giveOne(context, template);
    const noted = await tx.query(NOTE_GIVEN, [organizationId, this.clock.now()]);
    // A process of an earlier version locks the row instead. The next try finds what it gave.
    if (noted.length === 0) throw new Error('The organization was given its messages meanwhile');
  }

  private async giveOne(context: RequestContext, { name, locales, rules }: IdentityTemplate): Promise<void> {
    const template = await underAFreeName(name, (free) =>
      this.templates.create(context, {
        name: free,
        channel: 'email',
        default_locale: IDENTITY_TEMPLATES_DEFAULT_LOCALE,
        locales: { ...locales },
      }),
    );
    for (const [rule, event] of Object.entries(rules)) {
      await underAFreeName(rule, (free) =>
        this.routing.create(context, {
          name: free,
          event_type: event,
          channel: 'email',
          template_id: template.id,
        }),
      );
    }
  }
}

async function underAFreeName<T>(name: string, create: (name: string) => Promise<T>): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await create(number === 1 ? name : `${name} (${String(number)})`);
    } catch (error) {
      const taken = error instanceof Problem && error.code === 'duplicate_value';
      if (!taken || number > OTHER_NAMES) throw error;
    }
  }
}

/** The platform itself, which asks nobody for leave. */
function contextOf(organizationId: string): RequestContext {
  const { actor, correlationId } = systemActor(organizationId, newId(), 'messaging.identity-messages');
  return {
    organizationId,
    organization: { id: organizationId, status: 'active', settings: {} },
    principal: { type: 'system', id: actor.id },
    actor,
    correlationId,
    permissions: new Set(),
    can: () => false,
    authorization: undefined,
  };
}

import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import {
  DEFAULT_SETTINGS,
  defaultMfaPolicy,
  type OrganizationSettings,
} from '../vocabulary/organizations/organization-settings.js';
import { NO_BRANDING, type Branding } from '../vocabulary/organizations/branding.js';
import { leadsTo, SessionAuthentication, type CameIn } from '../sessions/session-authentication.js';
import type { PlatformClient } from './client-metadata.js';

/** So many are offered on one page; of more one searches. */
const MOST_OFFERED = 30;
/** So many are named to a client. */
const MOST_NAMED = 100;
/** What a request may name an organization by is no longer. */
const NAME_LENGTH = 100;

/** An organization in which a user can act by a client. */
export interface OpenOrganization {
  readonly id: string;
  readonly name: string;
  /** Whether its policy asks the user for a second factor. */
  readonly demandsMfa: boolean;
  /** How long a sign-in is good for there. */
  readonly absoluteHours: number;
}

/** An organization as a client's pages name it. */
export interface NamedOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

/** Whose people a client serves: its organization's, or those of all below as well (identity.md §6). */
export type Reach = Pick<PlatformClient, 'organizationId' | 'organizations'>;

interface OrganizationRow {
  id: string;
  name: string;
  mfa_policy: OrganizationSettings['mfa_policy'];
  is_owner: boolean;
  absolute_hours: number | null;
}

const WHERE_OPEN = `
  FROM memberships m
  JOIN users u ON u.id = m.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN organizations o ON o.organization_id = m.organization_id AND o.status = 'active' AND o.deleted_at IS NULL
 WHERE m.user_id = $1 AND (o.organization_id = $2 OR ($3 AND o.path @> ARRAY[$2::uuid]))`;
const OPEN = `
SELECT o.organization_id AS id, o.name, coalesce(o.settings ->> 'mfa_policy', $7) AS mfa_policy,
       EXISTS (
         SELECT FROM role_assignments a
           JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.key = 'owner'
          WHERE a.organization_id = m.organization_id AND a.membership_id = m.id) AS is_owner,
       (o.settings #>> '{session,absolute_hours}')::int AS absolute_hours ${WHERE_OPEN}`;
const ALL = `
SELECT o.organization_id AS id, o.name, o.slug ${WHERE_OPEN}
 ORDER BY lower(o.name), o.organization_id LIMIT ${String(MOST_NAMED + 1)}`;
/** Open organizations to which the way in leads. */
const LED = `${OPEN} AND ${leadsTo('$5', '$6')}`;
const OFFERED = `${LED} AND lower(left(o.name, char_length($4))) = lower($4)
 ORDER BY lower(o.name), o.organization_id LIMIT ${String(MOST_OFFERED + 1)}`;
/** An id is nobody else's slug: where it is both, the id counts. */
const NAMED = `${LED} AND (o.organization_id::text = lower($4) OR o.slug = $4)
 ORDER BY o.organization_id::text = lower($4) DESC LIMIT 1`;
const MEMBER = `
SELECT ${WHERE_OPEN} AND ($4::text IS NULL OR o.organization_id::text = lower($4) OR o.slug = $4) LIMIT 1`;
const LOOK = `SELECT name, settings -> 'branding' AS branding FROM organizations WHERE organization_id = $1`;

/**
 * Where a user can act by a client: where the user is a member, the client serves people, and the way in which the user
 * came leads to (identity.md §7).
 */
@Injectable()
export class OrganizationChoice {
  private readonly mfaPolicy = defaultMfaPolicy();

  constructor(
    private readonly database: Database,
    private readonly authentication: SessionAuthentication,
  ) {}

  /** By name, as far as one page goes; those whose name begins with `search`. */
  async offered(
    cameIn: CameIn,
    reach: Reach,
    search = '',
  ): Promise<{ choices: OpenOrganization[]; more: boolean }> {
    const rows = await this.query(OFFERED, cameIn, reach, search);
    return { choices: rows.slice(0, MOST_OFFERED).map(toOpen), more: rows.length > MOST_OFFERED };
  }

  /** The organizations that a client's pages are told of, by name; some may need another sign-in. */
  async all(userId: string, reach: Reach): Promise<{ named: NamedOrganization[]; more: boolean }> {
    const values = [userId, reach.organizationId, reach.organizations === 'tree'];
    const rows = await this.database.acrossOrganizations((tx) => tx.query<NamedOrganization>(ALL, values));
    return { named: rows.slice(0, MOST_NAMED), more: rows.length > MOST_NAMED };
  }

  /** The one with that id or slug; undefined where the user cannot act in it. */
  async named(cameIn: CameIn, reach: Reach, idOrSlug: string): Promise<OpenOrganization | undefined> {
    if (idOrSlug.length > NAME_LENGTH) return undefined;
    const [row] = await this.query(NAMED, cameIn, reach, idOrSlug);
    return row && toOpen(row);
  }

  /** Whether the user is a member of one that the client serves, or of that one, by whatever way in. */
  async isMember(
    userId: string,
    { organizationId, organizations }: Reach,
    idOrSlug?: string,
  ): Promise<boolean> {
    const values = [
      userId,
      organizationId,
      organizations === 'tree',
      idOrSlug?.slice(0, NAME_LENGTH) ?? null,
    ];
    const found = await this.database.acrossOrganizations((tx) => tx.query(MEMBER, values));
    return found.length > 0;
  }

  /** What an organization is called and how its pages look; of one that is gone, nothing. */
  async lookOf(organizationId: string): Promise<{ name: string; branding: Branding }> {
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ name: string; branding: Partial<Branding> | null }>(LOOK, [organizationId]),
    );
    return { name: row?.name ?? '', branding: { ...NO_BRANDING, ...row?.branding } };
  }

  private query(
    statement: string,
    cameIn: CameIn,
    { organizationId, organizations }: Reach,
    text: string,
  ): Promise<OrganizationRow[]> {
    const values = [cameIn.userId, organizationId, organizations === 'tree', text];
    return this.database.acrossOrganizations(async (tx) => {
      const { only, closed } = await this.authentication.wayOf(tx, cameIn);
      return tx.query<OrganizationRow>(statement, [...values, only, closed, this.mfaPolicy]);
    });
  }
}

function toOpen({
  id,
  name,
  mfa_policy: policy,
  is_owner: isOwner,
  absolute_hours: hours,
}: OrganizationRow): OpenOrganization {
  const demandsMfa = policy === 'required' || (policy === 'owners' && isOwner);
  return { id, name, demandsMfa, absoluteHours: hours ?? DEFAULT_SETTINGS.session.absolute_hours };
}

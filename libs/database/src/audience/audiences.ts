import { Problem } from '@customer-platform/problem-json';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';
import type { AudienceDto, AudienceMembersDto } from './audience.dto.js';

const NIL = '00000000-0000-0000-0000-000000000000';

/** A segment or list as messaging needs to know it before it writes to its members. */
export interface Audience {
  deleted: boolean;
  /** Set where its members are known: a segment's rule has been applied to all contacts. */
  ready: boolean;
  member_count: number;
}

/** Some members, each once; `next` is null where these are the last. */
export interface AudiencePage {
  contact_ids: string[];
  next: { at: string; id: string } | null;
}

/** A member, and the place in the order in which members came. */
export interface AudienceMember {
  contact_id: string;
  at: Date;
  id: string;
}

/** Those of an audience who came by `until`, after a place. */
export interface MembersQuestion {
  readonly id: string;
  readonly until: string;
  /** A place, or what is before all: `-infinity` and the nil id. */
  readonly afterAt: string;
  readonly afterId: string;
  readonly limit: number;
}

/** Tells what a module knows of its audiences, in a transaction of their organization. */
export interface AudienceSource {
  /** Finds one, deleted or not. */
  find(tx: Transaction, id: string): Promise<Audience | undefined>;
  /** Lists those who are members still, in the order of their places. */
  members(tx: Transaction, question: MembersQuestion): Promise<readonly AudienceMember[]>;
}

/** Answers `/internal/audience` from what a module has. */
export class Audiences {
  constructor(
    private readonly database: Database,
    private readonly source: AudienceSource,
  ) {}

  /** @throws Problem `not_found` */
  find({ organization_id: organizationId, id }: AudienceDto): Promise<Audience> {
    return this.database.inOrganization({ organizationId }, (tx) => this.known(tx, id));
  }

  /** Gives those who came by `until` and are still there. @throws Problem `not_found`, of a deleted audience too */
  members(body: AudienceMembersDto): Promise<AudiencePage> {
    const { organization_id: organizationId, id, until, limit } = body;
    const { after_at: afterAt = '-infinity', after_id: afterId = NIL } = body;
    return this.database.inOrganization({ organizationId }, async (tx) => {
      if ((await this.known(tx, id)).deleted) throw new Problem('not_found');
      const members = await this.source.members(tx, { id, until, afterAt, afterId, limit });
      const last = members.length < limit ? undefined : members.at(-1);
      return {
        contact_ids: members.map(({ contact_id }) => contact_id),
        next: last ? { at: last.at.toISOString(), id: last.id } : null,
      };
    });
  }

  private async known(tx: Transaction, id: string): Promise<Audience> {
    const found = await this.source.find(tx, id);
    if (!found) throw new Problem('not_found');
    return found;
  }
}

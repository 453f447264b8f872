import { Injectable } from '@nestjs/common';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { OwnSession, selfOf } from '../sessions/own-session.js';
import { UsersService } from '../users/users.service.js';
import type { OwnUser, UpdateAccountDto } from './account.dto.js';

const SELF =
  'SELECT organization_id AS home, password_hash IS NOT NULL AS has_password FROM users WHERE id = $1';

interface SelfRow {
  home: string;
  has_password: boolean;
}

/** The calling user's own account (identity.md §5), which is the same in every organization. */
@Injectable()
export class AccountService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersService,
    private readonly session: OwnSession,
  ) {}

  async read(context: RequestContext): Promise<OwnUser> {
    const { userId } = selfOf(context);
    const seen = await this.users.get(context, userId);
    const { has_password: hasPassword } = await this.database.acrossOrganizations((tx) => find(tx, userId));
    return { ...seen, hasPassword };
  }

  /**
   * Changes what the person says of themselves. Audit row and event are the home's, whichever organization the session
   * is of: it is there that the user is administered.
   * @throws Problem `user_not_managed` in a session of a tenant's client, `resource_deleted`, `etag_mismatch`
   */
  update(context: RequestContext, body: UpdateAccountDto): Promise<OwnUser> {
    const { userId } = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      await this.session.demandOwnClient(tx, context, 'An account is the same');
      const { home, has_password: hasPassword } = await find(tx, userId);
      await tx.useOrganization(home);
      const seen = await this.users.updateOwn(tx, { ...context, organizationId: home }, userId, body);
      return { ...seen, hasPassword };
    });
  }
}

async function find(tx: WorkerTransaction, userId: string): Promise<SelfRow> {
  const [row] = await tx.query<SelfRow>(SELF, [userId]);
  if (!row) throw new Problem('invalid_token');
  return row;
}

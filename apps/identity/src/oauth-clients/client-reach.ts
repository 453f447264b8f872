import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { demandHeld } from '../vocabulary/escalation.js';
import type { OAuthClient } from './oauth-client.entity.js';

const IS_ROOT = 'SELECT parent_id IS NULL AS is_root FROM organizations WHERE organization_id = $1';
const OF_OWNERS = `SELECT permission FROM built_in_permissions WHERE key = 'owner' AND kind = 'human'`;

/** What of a client decides where a user's code goes, and whether the user is asked. */
type Reaching = Pick<
  OAuthClient,
  'grantTypes' | 'organizations' | 'redirectUris' | 'postLogoutRedirectUris' | 'requirePkce'
>;

/**
 * What a client that people sign in with gives (identity.md §1, §6): they are sent to it with a code as soon as they
 * open a link, where it asks nobody, or where they have agreed to it before; and with what came of the code it may do
 * all that they may. Any of them may be, or become, an owner.
 */
@Injectable()
export class ClientReach {
  /**
   * That the caller holds what owners hold, where people come to be sent elsewhere unasked. Without `before` the client
   * is new, or nobody's any more. @throws Problem `privilege_escalation`
   */
  async demand(tx: Transaction, context: RequestContext, after: Reaching, before?: Reaching): Promise<void> {
    if (!hasPeople(after)) return;
    // One that people sign in with again may have been given other addresses in between.
    const isLed = before !== undefined && (!hasPeople(before) || leadsElsewhere(before, after));
    if (!isLed) {
      const [organization] = await tx.query<{ is_root: boolean }>(IS_ROOT, [tx.organizationId]);
      const asksNobody = ({ organizations }: Reaching): boolean =>
        organizations === 'own' || organization?.is_root === true;
      if (!asksNobody(after) || (before && asksNobody(before))) return;
    }
    const owners = await tx.query<{ permission: string }>(OF_OWNERS);
    demandHeld(
      context,
      owners.map(({ permission }) => permission),
    );
  }
}

function hasPeople({ grantTypes }: Reaching): boolean {
  return grantTypes.includes('authorization_code');
}

/** An address that is taken away takes nobody anywhere. */
function leadsElsewhere(before: Reaching, after: Reaching): boolean {
  const added = (key: 'redirectUris' | 'postLogoutRedirectUris') =>
    after[key].some((uri) => !before[key].includes(uri));
  return (
    added('redirectUris') || added('postLogoutRedirectUris') || (before.requirePkce && !after.requirePkce)
  );
}

import { newId, postgresFailure, type Transaction } from '@customer-platform/database';
import { turns } from '@customer-platform/http';

/** An identity that is to belong to a contact. */
export interface WantedIdentity {
  readonly type: string;
  readonly value: string;
  readonly normal: string;
}

/** What became of it: `taken` names the contact that has it. */
export type ClaimResult =
  { readonly owned: 'new' | 'already'; readonly id: string } | { readonly taken: string };

interface Owner {
  readonly id: string;
  readonly contact_id: string;
  readonly deleted: boolean;
}

const ADD = `
  INSERT INTO identities (organization_id, id, contact_id, type, value, normal_value, source, first_seen_at, last_seen_at,
                          created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, 'api', $7, $7, $7, $7)
  ON CONFLICT (organization_id, type, normal_value) WHERE yielded_at IS NULL DO NOTHING
  RETURNING id`;

const OWNER = `
  SELECT i.id, i.contact_id, c.deleted_at IS NOT NULL AS deleted
    FROM identities i JOIN contacts c ON c.organization_id = i.organization_id AND c.id = i.contact_id
   WHERE i.organization_id = $1 AND i.type = $2 AND i.normal_value = $3 AND i.yielded_at IS NULL`;

/** Only of a contact that is still deleted: a restore of it locks the same row. */
const YIELD = `
  WITH owner AS (
    SELECT id FROM contacts WHERE organization_id = $1 AND id = $3 AND deleted_at IS NOT NULL FOR NO KEY UPDATE)
  UPDATE identities i SET yielded_at = now() FROM owner
   WHERE i.organization_id = $1 AND i.id = $2 AND i.contact_id = owner.id`;

const YIELDED = `
  SELECT id, type, value, normal_value AS normal FROM identities
   WHERE organization_id = $1 AND contact_id = $2 AND yielded_at IS NOT NULL ORDER BY type, normal_value`;

const GIVE_UP = 'DELETE FROM identities WHERE organization_id = $1 AND id = $2';
const TAKE_BACK = 'UPDATE identities SET yielded_at = NULL WHERE organization_id = $1 AND id = $2';

/** Whoever loses a race looks again; nobody loses so often but by a sequence of others' changes. */
const TRIES = 5;

/**
 * Makes an identity the contact's own (core.md §3): one owner among active contacts. A soft-deleted owner yields it,
 * and asks for it back when it is restored.
 */
export async function claimIdentity(
  tx: Transaction,
  contactId: string,
  wanted: WantedIdentity,
  now: Date,
): Promise<ClaimResult> {
  const { type, value, normal } = wanted;
  let last: Owner | undefined;
  for (let left = TRIES; left > 0; left -= 1) {
    const id = newId();
    const row = [tx.organizationId, id, contactId, type, value, normal, now];
    if ((await tx.query(ADD, row)).length > 0) return { owned: 'new', id };
    last = await ownerOf(tx, wanted);
    if (last?.contact_id === contactId) return { owned: 'already', id: last.id };
    if (last && !last.deleted) return { taken: last.contact_id };
    if (last) await tx.query(YIELD, [tx.organizationId, last.id, last.contact_id]);
  }
  if (!last) throw new Error('An identity comes and goes too fast to be claimed');
  return { taken: last.contact_id };
}

/** Those among identities that nobody may have any more. */
export type BlockedAmong = <T extends WantedIdentity>(
  tx: Transaction,
  identities: readonly T[],
) => Promise<readonly T[]>;

/** Takes back what a contact yielded while it was soft-deleted; answers who has one of them now, if somebody does. */
export async function takeBackIdentities(
  tx: Transaction,
  contactId: string,
  blockedAmong: BlockedAmong,
): Promise<string | undefined> {
  const yielded = await tx.query<WantedIdentity & { id: string }>(YIELDED, [tx.organizationId, contactId]);
  for (const identity of yielded) {
    const owner = await takeBack(tx, identity);
    if (owner !== undefined) return owner;
  }
  await giveUpBlocked(tx, yielded, blockedAmong);
  return undefined;
}

/** Asked once they are had: an erasure that let go of one meanwhile has blocked it. */
async function giveUpBlocked(
  tx: Transaction,
  had: readonly (WantedIdentity & { id: string })[],
  blockedAmong: BlockedAmong,
): Promise<void> {
  for (const { id } of await blockedAmong(tx, had)) await tx.query(GIVE_UP, [tx.organizationId, id]);
}

/** As `takeBackIdentities`, but what another has now is left to it. */
export async function takeBackWhatIsFree(
  tx: Transaction,
  contactId: string,
  blockedAmong: BlockedAmong,
): Promise<void> {
  const yielded = await tx.query<WantedIdentity & { id: string }>(YIELDED, [tx.organizationId, contactId]);
  for (const identity of yielded) {
    const owner = await takeBack(tx, identity);
    if (owner !== undefined) await tx.query(GIVE_UP, [tx.organizationId, identity.id]);
  }
  await giveUpBlocked(tx, yielded, blockedAmong);
}

async function takeBack(
  tx: Transaction,
  identity: WantedIdentity & { id: string },
): Promise<string | undefined> {
  for await (const { isLast } of turns({ most: TRIES })) {
    const owner = await ownerOf(tx, identity);
    if (owner && !owner.deleted) return owner.contact_id;
    if (owner) await tx.query(YIELD, [tx.organizationId, owner.id, owner.contact_id]);
    try {
      await tx.savepoint(() => tx.query(TAKE_BACK, [tx.organizationId, identity.id]));
      return undefined;
    } catch (error) {
      if (postgresFailure(error)?.constraint !== 'identities_owner' || isLast) throw error;
    }
  }
  return undefined;
}

async function ownerOf(tx: Transaction, { type, normal }: WantedIdentity): Promise<Owner | undefined> {
  const [owner] = await tx.query<Owner>(OWNER, [tx.organizationId, type, normal]);
  return owner;
}

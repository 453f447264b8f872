import type { RequestContext } from '@customer-platform/http';

/** Who can make something that goes on without them. */
export const MAKER_TYPES = ['api_key', 'oauth_client', 'user'] as const;
export type MakerType = (typeof MAKER_TYPES)[number];

/** Whose rights a row lives by. */
export interface MadeRow {
  readonly makerType: MakerType | null;
  readonly makerId: string | null;
}

/**
 * Whose rights something lives by from now on. Who acts as another makes it in their own name: it outlives the
 * impersonation, and nothing may go on by the rights of somebody who knows nothing of it.
 */
export function makerOf({ principal, actor }: RequestContext): { makerType: MakerType; makerId: string } {
  if (actor.impersonatorId !== undefined) return { makerType: 'user', makerId: actor.impersonatorId };
  const { type, id } = principal;
  if (type === 'api_key' || type === 'oauth_client' || type === 'user')
    return { makerType: type, makerId: id };
  throw new Error(`Nothing that goes on by itself can be made by ${type}`);
}

import { Injectable } from '@nestjs/common';
import { CredentialResolver } from '@customer-platform/authorization';
import { log } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import type { MadeRow } from '../../vocabulary/makers/maker.js';

/** Whether the maker may read it now; `unknown` while the registry is silent. */
export type MakerVerdict = 'permitted' | 'not_permitted' | 'unknown';

/**
 * How something stands that carries data out: by the rights of its maker, without them, or with no maker known of it,
 * as of before makers were noted: that goes on until somebody changes or adopts it.
 */
export const STANDINGS = ['permitted', 'not_permitted', 'unowned'] as const;
export type Standing = (typeof STANDINGS)[number];

/** Something that carries data out, and whose rights it lives by. */
export interface Carried extends MadeRow {
  readonly organizationId: string;
  /** Null with a maker: found for what was there before makers were noted. */
  readonly makerSince: Date | null;
  /** What reads all that it may carry. */
  readonly needed: readonly Permission[];
  /** Who published the text that it carries, where its maker has not seen that. */
  readonly publisher: MadeRow | null;
}

const MAIL = { outlivesOutage: true };

/**
 * What goes on by itself carries only what its maker may read at that moment. Asked of the registry each time and kept
 * as fresh as any credential, so that it costs a call only after a change.
 */
@Injectable()
export class MakerRights {
  constructor(private readonly resolver: CredentialResolver) {}

  /** Of a row without a maker: not permitted. */
  async judge(
    { organizationId, makerType, makerId }: MadeRow & { readonly organizationId: string },
    needed: readonly Permission[],
    { outlivesOutage = false }: { outlivesOutage?: boolean } = {},
  ): Promise<MakerVerdict> {
    if (makerType === null || makerId === null) return 'not_permitted';
    const maker = { organization_id: organizationId, maker_type: makerType, maker_id: makerId };
    try {
      const { permissions } = await this.resolver.maker(maker, { outlivesOutage });
      return needed.every((permission) => permissions.has(permission)) ? 'permitted' : 'not_permitted';
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'invalid_token' || error.code === 'token_expired') return 'not_permitted';
      log.warn({ err: error, ...maker }, 'What a maker has made waits: their rights are unknown');
      return 'unknown';
    }
  }

  /**
   * How something stands that may be of before makers were noted. Mail goes on while the registry is away, by what was
   * known good of its makers within the last 15 minutes.
   */
  async standing(carried: Carried): Promise<Standing | 'unknown'> {
    const { organizationId, publisher, needed } = carried;
    const own = carried.makerType === null ? 'unowned' : await this.judge(carried, needed, MAIL);
    // Nothing stopped when makers were noted, whoever had left by then.
    const standing = own === 'not_permitted' && carried.makerSince === null ? 'unowned' : own;
    if (standing === 'not_permitted' || !publisher || publisher.makerType === null) return standing;
    const published = await this.judge({ organizationId, ...publisher }, needed, MAIL);
    return published === 'permitted' ? standing : published;
  }
}

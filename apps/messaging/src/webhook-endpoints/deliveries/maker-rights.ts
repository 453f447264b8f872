import { Injectable } from '@nestjs/common';
import { CredentialResolver } from '@customer-platform/authorization';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { permissionsToRead } from '../reading-permissions.js';
import type { ClaimedDelivery } from './delivery-queue.js';

/** Whether the maker may read it now; `unknown` while the registry is silent. */
type MakerVerdict = 'readable' | 'not_permitted' | 'unknown';

/**
 * An endpoint is told only what its maker may read at that moment: whoever last set its events or its address. Asked
 * of the registry for each delivery and kept as fresh as any credential, so that it costs a call only after a change.
 */
@Injectable()
export class MakerRights {
  constructor(private readonly resolver: CredentialResolver) {}

  async judge(delivery: ClaimedDelivery): Promise<MakerVerdict> {
    const { organization_id, maker_type, maker_id, type } = delivery;
    if (maker_type === null || maker_id === null) return 'not_permitted';
    try {
      const { permissions } = await this.resolver.maker({ organization_id, maker_type, maker_id });
      const reads = permissionsToRead(type).every((permission) => permissions.has(permission));
      return reads ? 'readable' : 'not_permitted';
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'invalid_token' || error.code === 'token_expired') return 'not_permitted';
      log.warn(
        { err: error, endpoint: delivery.endpoint_id },
        'A delivery waits: its maker’s rights are unknown',
      );
      return 'unknown';
    }
  }
}

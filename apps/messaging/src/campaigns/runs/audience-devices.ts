import { Injectable } from '@nestjs/common';
import { ContactRefresh } from '../../contacts/contact-refresh.js';

/** Questions to core at once. */
const AT_ONCE = 16;

/** Asks core for the devices of many contacts, as it is asked for each: no event tells of them. */
@Injectable()
export class AudienceDevices {
  constructor(private readonly refresh: ContactRefresh) {}

  /** By contact; null where one has none. @throws Problem `dependency_unavailable` */
  async of(organizationId: string, contactIds: readonly string[]): Promise<Map<string, string | null>> {
    const tokens = new Map<string, string | null>();
    const left = [...contactIds];
    const ask = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        tokens.set(id, await this.refresh.pushToken(organizationId, { contact_id: id }));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    return tokens;
  }
}

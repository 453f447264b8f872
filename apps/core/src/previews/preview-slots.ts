import { Injectable } from '@nestjs/common';
import { Places } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** At once, on this instance: each holds a connection of the pool for up to two seconds. */
export const PREVIEWS_AT_ONCE = { inAll: 5, ofTenant: 3, ofOrganization: 2 };

/** Bounds how many previews and explanations this instance works on at once. */
@Injectable()
export class PreviewSlots extends Places {
  constructor() {
    super(
      PREVIEWS_AT_ONCE,
      (scope) =>
        new Problem('rate_limited', {
          detail: 'As many previews and explanations as may be are being worked on; try again in 2 s.',
          headers: { 'Retry-After': '2' },
          members: { scope },
        }),
    );
  }
}

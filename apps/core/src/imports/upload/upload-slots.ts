import { Injectable } from '@nestjs/common';
import { Places } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** At once, on this instance: each writes to the disk as fast as it is sent. */
export const UPLOADS_AT_ONCE = { inAll: 6, ofTenant: 3, ofOrganization: 2 };

/** Bounds how many files this instance takes at once. */
@Injectable()
export class UploadSlots extends Places {
  constructor() {
    super(
      UPLOADS_AT_ONCE,
      (scope) =>
        new Problem('rate_limited', {
          detail: 'As many files as may be are being taken; try again in 10 s.',
          headers: { 'Retry-After': '10' },
          members: { scope },
        }),
    );
  }
}

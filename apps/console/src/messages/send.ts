import type { Schemas } from '@customer-platform/client';

/** What was sent to somebody, or was to be. */
export type Send = Schemas['SendDto'];

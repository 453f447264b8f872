import type { Schemas } from '@customer-platform/client';

export type Activity = Schemas['ActivityDto'];
export type ActivityType = Schemas['ActivityTypeDto'];

import { anOrganization, expectStatus, type Caller } from '@customer-platform/testing';
import type { ActivityTypeDto } from '../activity-types/activity-type.dto.js';
import type { TestCrm } from '../crm.fixture.js';
import type { ActivityDto } from './activity.dto.js';

/** Where activities and their types are. */
export const ACTIVITIES = '/v1/crm/activities';
export const TYPES = '/v1/crm/activity-types';

const ACTIONS = ['create', 'read', 'update', 'delete', 'purge'] as const;

/** An organization with a caller who may do everything with activities and their types. */
export class ActivityWorld {
  readonly organizationId = anOrganization().id;
  readonly caller: Caller;
  private types = 0;

  constructor(private readonly crm: TestCrm) {
    this.caller = crm.app.as(this.organizationId, [
      ...ACTIONS.map((action) => `crm.activities.${action}` as const),
      ...ACTIONS.map((action) => `crm.activity_types.${action}` as const),
    ]);
  }

  contact(): string {
    return this.crm.aContact(this.organizationId).id;
  }

  async type(body: object = {}): Promise<ActivityTypeDto> {
    this.types += 1;
    const given = { key: `type_${String(this.types)}`, name: 'A type', ...body };
    const answer = await this.caller.post<ActivityTypeDto>(TYPES, given);
    expectStatus(answer, 201);
    return answer.body;
  }

  /** A body that is taken, with a contact and a type of its own. */
  async body(override: object = {}): Promise<Record<string, unknown>> {
    const given = { subject: 'An activity', ...override };
    return {
      contact_id: this.contact(),
      ...('type_id' in given ? {} : { type_id: (await this.type()).id }),
      ...given,
    };
  }

  async activity(override: object = {}): Promise<ActivityDto> {
    const answer = await this.caller.post<ActivityDto>(ACTIVITIES, await this.body(override));
    expectStatus(answer, 201);
    return answer.body;
  }

  patch(activity: { id: string }, body: object) {
    return this.caller.patch<ActivityDto>(`${ACTIVITIES}/${activity.id}`, body);
  }

  async idsOf(query: string): Promise<string[]> {
    const answer = await this.caller.get<{ data: ActivityDto[] }>(`${ACTIVITIES}?${query}`);
    expectStatus(answer, 200);
    return answer.body.data.map(({ id }) => id);
  }
}

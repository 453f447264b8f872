import { acceptedChanges, type BreakingChange, unaccepted } from './openapi-changes.ts';

const aChange = (over: Partial<BreakingChange> = {}): BreakingChange => ({
  change: 'request-property-enum-value-removed',
  operation: 'POST /v1/messaging/event-routing',
  text: 'removed the enum value `identity.invitation.created` of the request property `event_type`',
  ...over,
});

describe('breaking changes of the API', () => {
  it('are accepted by kind and operation, and by nothing less', () => {
    const accepted = [
      {
        change: 'request-property-enum-value-removed',
        operations: ['POST /v1/messaging/event-routing'],
        reason: 'Nobody could route them.',
      },
    ];
    const elsewhere = aChange({ operation: 'PATCH /v1/messaging/event-routing/{id}' });
    const otherwise = aChange({ change: 'request-property-removed' });
    expect(unaccepted([aChange(), elsewhere, otherwise], accepted)).toEqual([elsewhere, otherwise]);
    expect(unaccepted([aChange()], [])).toEqual([aChange()]);
  });

  it('have a reason each', () => {
    for (const { reason } of acceptedChanges()) expect(reason.length).toBeGreaterThan(40);
  });
});

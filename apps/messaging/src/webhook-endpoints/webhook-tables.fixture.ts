import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';

/** What becomes of the columns of the tables of webhook endpoints; see the module's list. */
export const WEBHOOK_TABLES: TenantTables = {
  webhook_deliveries: {
    erased: 'payload contact_id',
    kept: {
      'webhook-endpoints/deliveries/delivery-outcomes.ts: that something was told and what came of it':
        'type state status_code error tries',
    },
    technical: {
      'webhook-endpoints/deliveries/delivery-queue.ts: the work of telling':
        'endpoint_id event_id correlation_id attempts due_at claim created_at',
      'webhook-endpoints/deliveries/delivery-outcomes.ts: the work of telling': 'attempted_at',
    },
    organization: 'goes with webhook_endpoints',
    archive: {
      as: 'webhook_deliveries',
      withheld: {
        'whose row it is, which the question says': 'contact_id',
        'the work of telling': 'correlation_id attempts due_at claim status_code error attempted_at tries',
      },
    },
    removed: 'by webhook-endpoints/deliveries/old-deliveries.ts',
  },
  webhook_endpoints: {
    kept: {
      'webhook-endpoints/webhook-endpoint.entity.ts: what staff wrote, secrets sealed':
        'name url events enabled signing secrets disabled_reason maker_type maker_id',
    },
    technical: {
      'webhook-endpoints/webhook-endpoint.entity.ts: the row, its version and its times':
        'id created_at updated_at deleted_at replay_since replay_asked_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  webhook_failing_since: {
    technical: {
      'webhook-endpoints/deliveries/delivery-outcomes.ts: since when an endpoint fails':
        'endpoint_id since last_at',
    },
    organization: 'goes with webhook_endpoints',
    archive: NOBODY,
    removed: 'by webhook-endpoints/deliveries/delivery-outcomes.ts',
  },
  webhook_test_calls: {
    technical: {
      'background/call-bounds/minute-calls.ts: how often it was asked in a minute': 'minute count',
    },
    organization: 'follows from webhook_endpoints',
    archive: NOBODY,
    removed: 'by webhook-endpoints/endpoint-test.service.ts',
  },
  webhook_tokens: {
    technical: {
      'reports/webhooks/used-tokens.ts: hashes of signed calls, so that none counts twice':
        'provider token_hash body_hash expires_at',
    },
    organization: 'follows from sends',
    archive: NOBODY,
    removed: 'by reports/webhooks/old-reports.ts',
  },
};

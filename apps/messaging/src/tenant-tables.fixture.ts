import { SHARED_CONTACT_NAMES } from '@customer-platform/events';
import { COUNTED, NOBODY, type TenantTables } from '@customer-platform/testing';
import { CAMPAIGN_TABLES } from './requests/campaigns/campaign-tables.fixture.js';
import { WEBHOOK_TABLES } from './webhook-endpoints/webhook-tables.fixture.js';

/** What becomes of the columns of messaging's tables: on an erasure, in an archive, in the course of time. */
export const MESSAGING_TENANT_TABLES: TenantTables = {
  ...CAMPAIGN_TABLES,
  ...WEBHOOK_TABLES,
  background_jobs: {
    technical: {
      'background/jobs/background-jobs.ts: work under way, gone when it is done':
        'kind target_id until position failures due_at worked_at',
    },
    organization: 'follows from what it works on',
    archive: NOBODY,
    removed: 'by background/jobs/background-jobs.ts',
  },
  cap_counters: {
    erased: 'contact_id channel period begins_on used',
    organization: 'follows from sends',
    archive: 'follows from sends',
    removed: 'stays: one a contact and channel',
  },
  channel_faults: {
    technical: {
      'settings/channels/channel-faults.ts: what a provider answers since when':
        'channel provider stage code since',
    },
    organization: 'follows from channel_settings',
    archive: NOBODY,
    removed: 'by settings/channels/channel-faults.ts',
  },
  channel_rates: {
    technical: { 'dispatch/gate/claims.ts: how fast a channel may send': 'channel used_until' },
    organization: 'follows from channel_settings',
    archive: NOBODY,
    removed: 'stays: one a channel',
  },
  channel_settings: {
    kept: {
      'settings/channels/channel-settings.dto.ts: what staff wrote, secrets sealed': 'document secrets',
      'settings/channels/channel-settings.repository.ts: who answers for it': 'maker_type maker_id',
    },
    technical: {
      'settings/channels/channel-settings.repository.ts: the row, its version and its times':
        'version maker_since updated_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  consents: {
    erased: 'contact_id purpose channel status occurred_at',
    organization: 'follows from consents of core',
    archive: 'core gives the consents',
    removed: 'stays: until the contact is erased',
  },
  contacts: {
    erased: `${SHARED_CONTACT_NAMES.join(' ')} attributes email_canonical phone_canonical`,
    kept: {
      'libs/contact-refs/src/contact-statements.ts: that a contact is gone, so that nothing is sent to it':
        'state merged_into',
    },
    technical: {
      'people/contacts/push-tokens.repository.ts: which of what core tells is newer':
        'id devices_epoch devices_known devices_learnt_at',
      'people/contacts/contacts.repository.ts: which of what core tells is newer': 'version profile_version',
    },
    organization: 'follows from contacts of core',
    archive: {
      as: 'profile',
      withheld: {
        'what core gives of the contact': 'version state merged_into',
        'which of what core tells is newer': 'profile_version devices_epoch devices_known devices_learnt_at',
        'follows from email and phone': 'email_canonical phone_canonical',
      },
    },
    removed: 'stays: until the contact is erased',
  },
  deliverability_changes: {
    kept: {
      'reports/deliverability/deliverability-recount.ts: figures by domains on their way':
        'hour id channel sender_domain recipient_domain campaign_id sends',
      'reports/deliverability/counted.ts: figures by domains on their way': 'reached_before reached_after',
    },
    organization: 'follows from sends',
    archive: NOBODY,
    removed: 'by reports/deliverability/deliverability-counter.ts',
  },
  deliverability_counts: {
    kept: {
      'reports/deliverability/deliverability.service.ts: figures by domains':
        'granularity dimension starts_at value sends handed_over received delivered opened clicked bounced complained',
      'reports/deliverability/deliverability-counter.ts: figures by domains': 'held sent',
      'vocabulary/sends/send-state.ts: figures by domains':
        'accepted rendering gated dispatching unknown suppressed opted_out capped failed canceled',
    },
    organization: 'follows from sends',
    archive: NOBODY,
    removed: 'by reports/deliverability/deliverability-recount.ts',
  },
  event_routing: {
    kept: {
      'requests/routing/rule-cache.ts: what staff wrote':
        'name enabled event_type event_name condition channel template_id recipient category topic delay_seconds',
      'requests/routing/rule.entity.ts: who answers for it': 'maker_type maker_id vouched_version',
    },
    technical: {
      'requests/routing/rule.entity.ts: the row, its version and its times':
        'id maker_since created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  event_waits: {
    erased: 'event_id contact_id event until due_at created_at failures',
    organization: 'follows from event_routing',
    archive: 'core gives the event',
    removed: 'by people/event-waits/event-waits.repository.ts',
  },
  identity_mails: {
    technical: {
      'dispatch/identity-lane/identity-mail-limits.ts: what the platform mailed within a day; the key is a keyed hash':
        'send_id kind address_key tenant_id counted_at',
    },
    organization: 'of the platform alone, whose organization stays',
    archive: NOBODY,
    removed: 'by dispatch/identity-lane/identity-mail-limits.ts',
  },
  in_flight: {
    technical: {
      'dispatch/gate/gate-passage.ts: a hand-off under way, by keyed hashes; an erasure waits for it':
        'send_id attempt keys lease_until',
    },
    organization: 'follows from sends',
    archive: NOBODY,
    removed: 'by dispatch/gate/settlement.ts',
  },
  lifted_suppressions: {
    erased: 'key address note',
    kept: {
      'people/suppressions/suppressions.repository.ts: who of staff suppressed and lifted what':
        'channel scope reason created_by lifted_by_type lifted_by_id',
    },
    technical: {
      'people/suppressions/suppressions.repository.ts: the row and its times': 'id created_at lifted_at',
    },
    organization: COUNTED,
    archive: {
      as: 'lifted_suppressions',
      withheld: {
        'a keyed hash': 'scope key',
        'who of staff': 'created_by lifted_by_type lifted_by_id',
      },
    },
    removed: 'stays: who lifted it is asked for long after, as of the audit log',
  },
  notification_reads: {
    erased: 'contact_id read_until',
    organization: 'follows from sends',
    archive: 'what the person has seen of notifications, up to when',
    removed: 'stays: one a contact',
  },
  notifications: {
    erased: 'id contact_id title body url topic created_at',
    organization: 'follows from sends',
    archive: { as: 'notifications', withheld: { 'whose row it is, which the question says': 'contact_id' } },
    removed: 'by people/notifications/notification-life.ts',
  },
  organizations: {
    technical: {
      'unread: left by a release before': 'identity_messages_at',
      'background/organizations/organization-states.ts: as identity tells, and which rules hold':
        'status status_at',
      'requests/routing/rule-cache.ts: as identity tells, and which rules hold': 'routing_version',
    },
    organization: 'follows from organizations of identity',
    archive: NOBODY,
    removed: 'stays: one of an organization',
  },
  preferences: {
    erased: 'subject channel topic subscribed updated_at',
    organization: 'follows from sends',
    archive: { as: 'preferences', withheld: { 'whose row it is, which the question says': 'subject' } },
    removed: 'stays: an opt-out blocks for good',
  },
  provider_reports: {
    kept: {
      'reports/webhooks/reports.repository.ts: that a report came and of which send; the key is a keyed hash':
        'provider provider_message_id event_key event provider_event_id bounce_type named_send send_id address_key occurred_at received_at applied_at due_at',
    },
    organization: 'follows from sends',
    archive: 'what came of a send stands in send_history',
    removed: 'by reports/webhooks/old-reports.ts',
  },
  push_tokens: {
    erased: 'id contact_id token canonical seen_at dead',
    organization: 'follows from identities of core',
    archive: {
      as: 'devices',
      withheld: {
        'whose row it is, which the question says': 'id contact_id',
        'follows from token': 'canonical dead',
      },
    },
    removed: 'by people/contacts/push-tokens.repository.ts',
  },
  send_history: {
    kept: {
      'dispatch/sends/send-journal.ts: what came of a send, without whose it was':
        'send_id id state reason attempt provider_event_id smtp_code occurred_at',
    },
    organization: 'goes with sends',
    archive: {
      as: 'send_history',
      withheld: { "the provider's own words": 'provider_event_id smtp_code', 'the order of steps': 'id' },
    },
    removed: 'stays: the send is kept',
  },
  send_payloads: {
    erased: 'send_id data event content',
    kept: { 'vocabulary/sends/send.ts: whether its text may read the contact': 'withholds_contact' },
    organization: 'goes with sends',
    archive: {
      as: 'sends',
      withheld: {
        'given as the send and its event': 'send_id event',
        'by whose rights it is rendered': 'withholds_contact',
      },
    },
    removed: 'by dispatch/sends/send-journal.ts',
  },
  sender_domain_calls: {
    technical: {
      'background/call-bounds/minute-calls.ts: how often it was asked in a minute': 'minute count',
    },
    organization: 'follows from sender_domains',
    archive: NOBODY,
    removed: 'by settings/sender-domains/verification.service.ts',
  },
  sender_domains: {
    kept: {
      'settings/sender-domains/domain-checks.ts: what staff wrote, and what was found of it':
        'domain state dkim_keys findings',
    },
    technical: {
      'settings/sender-domains/sender-domain.entity.ts: the row, its version and its times':
        'id failing_since verified_at checked_at next_check_at created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
  sends: {
    erased: 'contact_id recipient address subject metadata correlation_id',
    kept: {
      'requests/sends/send.dto.ts: that something was sent, when, how and what came of it; the key is a keyed hash':
        'channel state reason category topic address_key template_id template_version locale source source_id run_id provider provider_message_id attempts sent_at content_removed_at created_at updated_at',
      'dispatch/gate/gate-passage.ts: that something was sent, when, how and what came of it; the key is a keyed hash':
        'sender cap_counted by_platform reached sender_domain',
      'dispatch/gate/claimed-send.ts: that something was sent, when, how and what came of it; the key is a keyed hash':
        'event_id',
      'reports/deliverability/counted.ts: that something was sent, when, how and what came of it; the key is a keyed hash':
        'recipient_domain',
    },
    technical: {
      'dispatch/sends/sends.repository.ts: the work of dispatching':
        'id release_at expires_at lane due_at claim',
      'dispatch/gate/claimed-send.ts: the work of dispatching': 'waiting_since',
    },
    organization: COUNTED,
    archive: {
      as: 'sends',
      withheld: {
        'whose row it is, which the question says': 'contact_id',
        'follows from address': 'recipient address_key recipient_domain',
        'how it was sent':
          'source_id run_id provider provider_message_id attempts cap_counted release_at expires_at correlation_id lane due_at claim by_platform waiting_since content_removed_at reached sender_domain',
      },
    },
    removed: 'stays: its content goes by dispatch/sends/retained-sends.ts',
  },
  suppressions: {
    erased: 'address note',
    kept: {
      'vocabulary/suppressions/suppression.ts: blocks by a keyed hash': 'channel scope key reason created_by',
    },
    technical: {
      'vocabulary/suppressions/suppression.ts: the row and its times': 'id created_at updated_at',
    },
    organization: COUNTED,
    archive: {
      as: 'suppressions',
      withheld: {
        'a keyed hash': 'scope key',
        'who of staff': 'created_by',
        'follows from created_at': 'updated_at',
      },
    },
    removed: 'stays: it blocks for good',
  },
  template_publishers: {
    kept: {
      'content/templates/template-versions.ts: who published it':
        'publisher_type publisher_id reads_contacts',
    },
    technical: {
      'content/templates/template-versions.ts: which version of which template': 'template_id version',
    },
    organization: 'goes with templates',
    archive: NOBODY,
    removed: 'stays: goes with template_versions',
  },
  template_uses: {
    technical: {
      'content/templates/used-templates.ts: which version uses which part':
        'template_id version used_id used_version',
    },
    organization: 'goes with templates',
    archive: NOBODY,
    removed: 'stays: goes with template_versions',
  },
  template_versions: {
    kept: {
      'content/templates/template-versions.ts: what staff wrote':
        'channel default_locale locales variables strict parts layout',
    },
    technical: {
      'content/templates/template-versions.ts: the row, its version and its times':
        'template_id version created_at',
    },
    organization: 'goes with templates',
    archive: NOBODY,
    removed: 'stays: goes with templates',
  },
  templates: {
    kept: {
      'content/templates/template.dto.ts: what staff wrote':
        'name channel default_locale locales variables strict kind layout',
    },
    technical: {
      'content/templates/template.dto.ts: the row, its version and its times':
        'id version published_version created_at updated_at deleted_at',
    },
    organization: COUNTED,
    archive: NOBODY,
    removed: 'stays: until staff purges it',
  },
};

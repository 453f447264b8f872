import { Problem, type FieldError } from '@customer-platform/problem-json';
import { checkAddress, type CheckedAddress } from '../../vocabulary/addresses/address.js';
import { addressOf } from '../../vocabulary/contacts/contact.js';
import { mailSender } from '../../vocabulary/senders/sender.js';
import { checkTopicAmong } from '../../settings/channels/channel-plans.js';
import { unverified } from '../../settings/sender-domains/verified-senders.js';
import { completeData } from '../../vocabulary/templates/template-data.js';
import type { PublishedHead, TemplateHead } from '../../content/templates/template-versions.js';
import type { AcceptanceFacts, Content, ContentFacts } from './acceptance-facts.js';
import type { SendRequest } from './send-request.js';

/** The contact is not known here: core has to be asked, and no transaction may be open meanwhile. */
export class ContactUnknown extends Error {}

/** What core said when it was asked. */
export type CoreWord = 'not asked' | 'asked' | 'silent';

/** What core knows beyond its events: a device's token, null without one, undefined while core is silent. */
export interface Asked {
  readonly word: CoreWord;
  readonly token: string | null | undefined;
}

/** To whom a send goes, as far as is known at acceptance. */
export interface Target {
  readonly contactId: string | null;
  readonly address: CheckedAddress | undefined;
}

/** Of a test: the version is the one that is shown, and the template is still there. @throws Problem */
export function checkTested(request: SendRequest, tested: TemplateHead, facts: AcceptanceFacts): void {
  checkChannel(request, facts);
  const template = facts.template(tested.templateId);
  // Deleted or purged since it was read; what is here now stays until the send is stored.
  if (!template) throw new Problem('not_found');
  if (template.deleted) throw new Problem('resource_deleted');
}

function checkChannel(request: Content, facts: ContentFacts): void {
  const { plan } = facts;
  if (plan.unreadable.includes(request.channel))
    throw new Problem('dependency_unavailable', {
      detail: 'The channel cannot be used just now; try again.',
    });
  if (!plan.channels[request.channel]) throw new Problem('channel_not_configured');
  const sender = mailSender(request, plan);
  if (sender && !facts.maySendFrom(sender))
    throw unverified(sender, request.sender === null ? undefined : '/from');
}

/** What the settings and the template have to say. @throws Problem as `SendAcceptance.accept` lists them */
export function templateFor(request: Content, facts: ContentFacts): PublishedHead | undefined {
  const { plan } = facts;
  checkChannel(request, facts);
  if (request.topic !== null) checkTopicAmong(plan.topics, request.topic, request.channel);
  if (request.templateId === null) return undefined;
  const version = published(facts.template(request.templateId));
  if (version.channel !== request.channel) {
    throw refusal({
      pointer: '/template_id',
      code: 'not_allowed',
      detail: `The template is of the channel ${version.channel}.`,
    });
  }
  const { errors } = completeData(version.variables, request.data);
  if (errors.length > 0) throw Problem.validation(errors);
  return version;
}

/** @throws Problem `recipient_unreachable`; ContactUnknown where core has not been asked yet */
export function targetOf(
  { channel, recipient }: SendRequest,
  { word, token }: Asked,
  facts: AcceptanceFacts,
): Target {
  if ('address' in recipient) {
    const address = checkAddress(channel, recipient.address);
    return { contactId: (address && facts.owner(address)) ?? null, address };
  }
  const contact = facts.contact(recipient);
  // A merged one whose survivor is not known here is as good as not known.
  if (!contact || contact.state === 'merged') {
    if (word === 'not asked') throw new ContactUnknown();
    // Core is silent: the dispatcher asks again, for 15 minutes.
    if (word === 'silent')
      return { contactId: 'contact_id' in recipient ? recipient.contact_id : null, address: undefined };
    throw new Problem('recipient_unreachable');
  }
  const known = addressOf(contact.profile, channel, token);
  // Core is silent about the device: the dispatcher asks again.
  if (known === undefined) return { contactId: contact.id, address: undefined };
  const text = contact.state === 'active' ? known : null;
  const address = text === null ? undefined : checkAddress(channel, text);
  if (!address) throw new Problem('recipient_unreachable');
  return { contactId: contact.id, address };
}

function published(template: ReturnType<AcceptanceFacts['template']>): PublishedHead {
  const pointer = '/template_id';
  if (!template)
    throw refusal({ pointer, code: 'reference_not_found', detail: 'There is no such template.' });
  if (template.deleted)
    throw refusal({ pointer, code: 'reference_deleted', detail: 'The template is deleted.' });
  if (!template.version)
    throw refusal({ pointer, code: 'template_invalid', detail: 'The template has no published version.' });
  return template.version;
}

function refusal(error: FieldError): Problem {
  return Problem.validation([error]);
}

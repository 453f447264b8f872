import type developers from './developers/messages.en.json';
import type attributes from './attributes/messages.en.json';
import type actors from './actors/messages.en.json';
import type audit from './audit/messages.en.json';
import type account from './account/messages.en.json';
import type campaigns from './campaigns/messages.en.json';
import type deliverability from './deliverability/messages.en.json';
import type contacts from './contacts/messages.en.json';
import type home from './home/messages.en.json';
import type imports from './imports/messages.en.json';
import type drafts from './drafts/messages.en.json';
import type lists from './lists/messages.en.json';
import type invitation from './invitation/messages.en.json';
import type objects from './objects/messages.en.json';
import type organization from './organization/messages.en.json';
import type loyalty from './loyalty/messages.en.json';
import type messageParts from './message-parts/messages.en.json';
import type messages from './messages/messages.en.json';
import type navigation from './navigation/messages.en.json';
import type problems from './problems/messages.en.json';
import type people from './people/messages.en.json';
import type privacy from './privacy/messages.en.json';
import type senderDomains from './sender-domains/messages.en.json';
import type segments from './segments/messages.en.json';
import type liveEvents from './live-events/messages.en.json';
import type taxonomies from './taxonomies/messages.en.json';
import type shell from './shell/messages.en.json';
import type ui from './ui/messages.en.json';

/** Every text of the Console, by the folder that shows it; the English files give the names. */
interface Messages {
  developers: typeof developers;
  attributes: typeof attributes;
  actors: typeof actors;
  audit: typeof audit;
  account: typeof account;
  campaigns: typeof campaigns;
  deliverability: typeof deliverability;
  contacts: typeof contacts;
  home: typeof home;
  imports: typeof imports;
  drafts: typeof drafts;
  lists: typeof lists;
  invitation: typeof invitation;
  objects: typeof objects;
  organization: typeof organization;
  loyalty: typeof loyalty;
  'message-parts': typeof messageParts;
  messages: typeof messages;
  navigation: typeof navigation;
  people: typeof people;
  problems: typeof problems;
  privacy: typeof privacy;
  'sender-domains': typeof senderDomains;
  segments: typeof segments;
  'live-events': typeof liveEvents;
  taxonomies: typeof taxonomies;
  shell: typeof shell;
  ui: typeof ui;
}

declare module 'use-intl' {
  interface AppConfig {
    Locale: 'es-CL' | 'en';
    Messages: Messages;
  }
}

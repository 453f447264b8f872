import type { Answer, Caller } from '../caller.js';
import { eventually } from '../eventually.js';
import type { Pick } from './acts.js';
import { at } from './calls.js';
import type { ConsentModel, Word } from './consent-model.js';
import type { LifeWorld } from './life-world.js';
import type { People } from './people.js';

const DAY_MS = 86_400_000;
/** A clock may go before ours by so much. */
const AHEAD_MS = 30_000;
/** A grant that is over before its life is held against the model, most likely before its next merge is undone. */
const SHORT_MS = 200;
/** The refusals of a member's call: each is dated a millisecond after the one before. */
const REFUSED_AT_ONCE = 20;

/** Says what people of a life say of marketing: each word goes to the service and to the model. */
export class ConsentActs {
  private days = 0;
  /** When the last short grant ends. */
  private endsAt = 0;

  constructor(
    private readonly world: LifeWorld,
    private readonly people: People,
    private readonly consents: ConsentModel,
    private readonly caller: () => Caller,
    private readonly pick: Pick,
  ) {}

  async say(
    person: number,
    act: 'grant' | 'withdraw' | 'grant late' | 'withdraw late' | 'grant ahead',
  ): Promise<Answer<unknown>> {
    const status: Word = act.startsWith('grant') ? 'granted' : 'withdrawn';
    this.days += 1;
    const late = act.endsWith('late');
    const shift = late ? -(1 + this.pick(300)) * DAY_MS - this.days * 1_000 : AHEAD_MS;
    const isDated = late || act.endsWith('ahead');
    const dated = isDated ? { occurred_at: new Date(Date.now() + shift).toISOString() } : {};
    return this.noteSaid(person, status, late, await this.askToSay(person, status, dated));
  }

  askToSay(person: number, status: Word, more: object = {}): Promise<Answer<{ occurred_at: string }>> {
    const said = { purpose: 'marketing', status, notice_version: '1', method: 'form', ...more };
    return this.caller().post<{ occurred_at: string }>(at(this.people.of(person), '/consents'), said);
  }

  noteSaid(
    person: number,
    word: Word,
    late: boolean,
    answer: Answer<{ occurred_at: string }>,
  ): Answer<unknown> {
    if (answer.status === 201) this.consents.say(person, word, Date.parse(answer.body.occurred_at), late);
    return answer;
  }

  /** Refuses as a member, who may for as long as the contact is there: marketing first, and much else. */
  async refuseAll(person: number): Promise<Answer<unknown>> {
    const others = Array.from({ length: REFUSED_AT_ONCE - 1 }, (_, at) => `custom.of_${String(at)}`);
    const consents = ['marketing', ...others].map((purpose) => ({ purpose, status: 'withdrawn' }));
    const member = this.world.member(this.people.of(person).token);
    const answer = await member.patch('/v1/core/members/me/consents', { consents });
    if (answer.status === 200) this.consents.say(this.people.rootOf(person), 'withdrawn', Date.now(), false);
    return answer;
  }

  async grantShortly(person: number): Promise<Answer<unknown>> {
    this.endsAt = Date.now() + SHORT_MS;
    const expires_at = new Date(this.endsAt).toISOString();
    const answer = await this.askToSay(person, 'granted', { expires_at });
    if (answer.status === 201) this.consents.leaveOpen(person);
    return answer;
  }

  /** Resolves once the last short grant has ended. */
  untilOver(): Promise<void> {
    return eventually(() => expect(Date.now()).toBeGreaterThan(this.endsAt));
  }
}

import { Controller, Headers, UseFilters } from '@nestjs/common';
import { Answer, Authenticated, CorrelationId, Endpoint, Query } from '@customer-platform/http';
import { UnsubscribeFaultPages } from './unsubscribe-fault-pages.js';
import { PAGE_HEADERS, unsubscribedPage, unsubscribePage } from './unsubscribe-page.js';
import { SignedLink } from './signed-link.strategy.js';
import {
  UnsubscribeDto,
  UnsubscribedDto,
  UnsubscribePostQueryDto,
  UnsubscribeQueryDto,
} from './unsubscribe.dto.js';
import { UnsubscribeService } from './unsubscribe.service.js';

/** A form of one token. */
const BODY_BYTES = 16 * 1024;

@Controller('v1/messaging/unsubscribe')
@UseFilters(UnsubscribeFaultPages)
export class UnsubscribeController {
  constructor(private readonly subscriptions: UnsubscribeService) {}

  @Endpoint({
    method: 'GET',
    authorization: 'signed_link',
    apiClass: 'member',
    latencyClass: 'member_messaging',
    summary: 'Show the form that unsubscribes',
    description: 'An HTML page without script. It changes nothing, whoever follows the link to look at it.',
    problems: ['invalid_signature'],
  })
  async form(
    @Query() { token }: UnsubscribeQueryDto,
    @Authenticated() link: SignedLink,
    @Headers('accept-language') language: string | undefined,
  ): Promise<Answer<string>> {
    const shown = await this.subscriptions.show(link);
    return new Answer(unsubscribePage(shown, token, language), PAGE_HEADERS);
  }

  @Endpoint({
    method: 'POST',
    authorization: 'signed_link',
    apiClass: 'member',
    latencyClass: 'member_messaging',
    summary: 'Unsubscribe by the link',
    description:
      'One click of a mail program (RFC 8058: `List-Unsubscribe=One-Click` as either kind of form, token in the ' +
      'address, no cookies), the form of the page, or JSON. Ends the topic of the link, or all marketing of its ' +
      'channel; when the answer is there no such message is handed over any more. Repeatable.',
    body: 'raw',
    bodyLimit: BODY_BYTES,
    request: UnsubscribeDto,
    response: UnsubscribedDto,
    problems: ['invalid_signature'],
  })
  async unsubscribe(
    @Query() _query: UnsubscribePostQueryDto,
    @Authenticated() link: SignedLink,
    @Headers('accept-language') language: string | undefined,
    @CorrelationId() correlationId: string,
  ): Promise<Answer> {
    const { channel, topic } = await this.subscriptions.end(link, correlationId);
    if (link.form === 'page') return new Answer(unsubscribedPage(language), PAGE_HEADERS);
    return new Answer<UnsubscribedDto>({ channel, topic, subscribed: false });
  }
}

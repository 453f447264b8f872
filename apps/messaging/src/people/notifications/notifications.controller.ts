import { Controller } from '@nestjs/common';
import { Context, Endpoint, ListRequest, type ListQuery, type RequestContext } from '@customer-platform/http';
import { NotificationPageDto } from './notification.dto.js';
import { NOTIFICATIONS_LIST, NotificationsService } from './notifications.service.js';

@Controller('v1/messaging/members/me/notifications')
export class NotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  @Endpoint({
    method: 'GET',
    authorization: 'member_token',
    apiClass: 'member',
    latencyClass: 'member_messaging',
    summary: 'Read one’s inbox',
    description: 'What came by the channel in_app within the last 90 days.',
    response: NotificationPageDto,
  })
  async list(
    @Context() context: RequestContext,
    @ListRequest(NOTIFICATIONS_LIST) query: ListQuery,
  ): Promise<NotificationPageDto> {
    const { data, page, unread } = await this.notifications.list(context, query);
    return {
      data: data.map((row) => ({ ...row, created_at: row.created_at.toISOString() })),
      page,
      unread_count: unread,
    };
  }
}

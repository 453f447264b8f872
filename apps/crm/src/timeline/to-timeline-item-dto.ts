import type { PlacedItem } from './source-page.js';
import type { TimelineItemDto } from './timeline.dto.js';

const TITLE_LENGTH = 200;

/** An item as the API answers it; `data` is what the source sent, unchanged. */
export function toTimelineItemDto({
  fragment,
  id,
  occurredAt,
  correlationId,
  item,
}: PlacedItem): TimelineItemDto {
  return {
    id,
    source: fragment.source,
    type: fragment.type,
    occurred_at: occurredAt,
    correlation_id: correlationId,
    title: shortened(fragment.title(item).trim()),
    data: item,
  };
}

/** Cut between characters, never within one. */
function shortened(title: string): string {
  return title.length <= TITLE_LENGTH ? title : [...title].slice(0, TITLE_LENGTH - 1).join('') + '…';
}

import type { ListDto } from './list.dto.js';
import type { List } from './list.entity.js';

/** A list as the API answers it. */
export function toListDto(list: List): ListDto {
  return {
    id: list.id,
    name: list.name,
    description: list.description,
    member_count: list.memberCount,
    created_at: list.createdAt.toISOString(),
    updated_at: list.updatedAt.toISOString(),
    deleted_at: list.deletedAt?.toISOString() ?? null,
  };
}

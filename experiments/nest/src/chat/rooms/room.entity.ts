import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** A conversation of two; `one` is the user with the smaller number. */
@Entity('rooms')
@Unique(['one', 'other'])
export class Room {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  one: number;

  @Column()
  other: number;
}

/** Making a reservation: legs, seats and price, then the payments, then the records. */
import {
  Refusal,
  type Cabin,
  type Draft,
  type Leg,
  type Passenger,
  type Payment,
  type PaymentMethod,
  type Records,
  type Reservation,
  type User,
} from './records.ts';
import { openDay } from './timetable.ts';

const INSURANCE_USD = 30;
export const BAG_USD = 50;
/** The moment at which the recorded conversations take place. */
const BOOKED_AT = '2024-05-15T15:00:00';
/** Ids are handed out in this order, the first that is free. */
const RESERVATION_IDS: readonly string[] = ['HATHAT', 'HATHAU', 'HATHAV'];

export type FlightRef = { readonly flight_number: string; readonly date: string };

export type Booking = {
  readonly user_id: string;
  readonly origin: string;
  readonly destination: string;
  readonly flight_type: string;
  readonly cabin: Cabin;
  readonly flights: readonly FlightRef[];
  readonly passengers: readonly Passenger[];
  readonly payment_methods: readonly Payment[];
  readonly total_baggages: number;
  readonly nonfree_baggages: number;
  readonly insurance: string;
};

/** Throws Refusal before anything is put. */
export const book = (draft: Draft, booking: Booking): Reservation => {
  const user = userOf(draft, booking.user_id);
  const id = RESERVATION_IDS.find((candidate) => !draft.get('reservations', candidate));
  if (id === undefined) throw new Refusal('no reservation id is free');
  const people = booking.passengers.length;
  const legs = booking.flights.map((flight) => priced(draft, flight, { cabin: booking.cabin, people }));
  checkPayments(user, booking.payment_methods, priceOf(booking, legs));
  const { user_id, origin, destination, flight_type, cabin, insurance } = booking;
  const reservation: Reservation = {
    reservation_id: id,
    user_id,
    origin,
    destination,
    flight_type,
    cabin,
    flights: legs,
    passengers: booking.passengers.map(passengerOf),
    payment_history: booking.payment_methods.map(({ payment_id, amount }) => ({ payment_id, amount })),
    created_at: BOOKED_AT,
    total_baggages: booking.total_baggages,
    nonfree_baggages: booking.nonfree_baggages,
    insurance,
  };
  draft.put('reservations', id, reservation);
  const paid = { ...user, payment_methods: afterPaying(user.payment_methods, booking.payment_methods) };
  draft.put('users', user_id, { ...paid, reservations: [...user.reservations, id] });
  return reservation;
};

export const userOf = (records: Records, id: string): User => {
  const user = records.get('users', id);
  if (!user) throw new Refusal('user not found');
  return user;
};

export const passengerOf = ({ first_name, last_name, dob }: Passenger): Passenger => ({
  first_name,
  last_name,
  dob,
});

export type Party = { readonly cabin: Cabin; readonly people: number };

/** A leg at today's price, if it can be booked for so many people. */
export const priced = (records: Records, { flight_number, date }: FlightRef, party: Party): Leg => {
  const flight = records.get('flights', flight_number);
  if (!flight) throw new Refusal(`flight ${flight_number} not found`);
  const day = openDay(flight, date);
  if (!day) throw new Refusal(`flight ${flight_number} not available on date ${date}`);
  if (day.available_seats[party.cabin] < party.people)
    throw new Refusal(`not enough seats on flight ${flight_number}`);
  const { origin, destination } = flight;
  return { flight_number, date, price: day.prices[party.cabin], origin, destination };
};

export const legsPrice = (legs: readonly Leg[]): number => legs.reduce((sum, { price }) => sum + price, 0);

const priceOf = ({ passengers, insurance, nonfree_baggages }: Booking, legs: readonly Leg[]): number =>
  legsPrice(legs) * passengers.length +
  (insurance === 'yes' ? INSURANCE_USD * passengers.length : 0) +
  BAG_USD * nonfree_baggages;

export const methodOf = (user: User, id: string): PaymentMethod | undefined =>
  Object.hasOwn(user.payment_methods, id) ? user.payment_methods[id] : undefined;

const checkPayments = (user: User, payments: readonly Payment[], price: number): void => {
  for (const { payment_id, amount } of payments) {
    const method = methodOf(user, payment_id);
    if (!method) throw new Refusal(`payment method ${payment_id} not found`);
    if (method.source !== 'credit_card' && method.amount < amount)
      throw new Refusal(`not enough balance in payment method ${payment_id}`);
  }
  const paid = payments.reduce((sum, { amount }) => sum + amount, 0);
  if (paid !== price)
    throw new Refusal(`payment amount does not add up, total price is ${price}, but paid ${paid}`);
};

/** Gift cards are debited; a certificate is used up, whatever is left on it. */
const afterPaying = (
  methods: User['payment_methods'],
  payments: readonly Payment[],
): User['payment_methods'] => {
  const left = { ...methods };
  for (const { payment_id, amount } of payments) {
    const method = left[payment_id];
    if (method?.source === 'certificate') delete left[payment_id];
    if (method?.source === 'gift_card') left[payment_id] = { ...method, amount: method.amount - amount };
  }
  return left;
};

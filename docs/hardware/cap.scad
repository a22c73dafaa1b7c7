// The cap of build A: clips under an igloo, holds sensor and board. Measure your igloo and change the first four numbers.
//
// Printed as it stands, floor down, without support; 0.2 mm layers, three walls. Never printed yet by us. Lengths in mm.

foot = 60;          // outer diameter of the igloo's foot
foot_height = 4;    // height of the straight part that the rim may hold
gap = 0.3;          // play around the foot; 0.2 holds firmly, 0.4 comes off easily
cable = 4.5;        // diameter of the cable

/* [Boards, with their play] */
module_size = [21, 16, 4];   // an ADXL345 module, pins cut short
board_size = [34, 19, 6];    // a Pro Mini with its wires; a Nano is [45, 20, 8], a Pico [52, 22, 6]
stacked = 0;                 // 1: the module lies on the board (tape between), for a Nano or a Pico

/* [The print] */
wall = 1.8;
floor_thick = 1.6;
ledge = 2;          // on which the foot stands, at its narrowest
between = 2;        // of the two boards
clips = 6;          // little bumps that hold the foot
bump = 0.5;

$fn = 96;
inner = foot + 2 * gap;
radius = inner / 2 - ledge;
room = 1 + stacked * (module_size[2] + board_size[2]) + (1 - stacked) * max(module_size[2], board_size[2]);
height = floor_thick + room + foot_height;

// Sensor as near to the middle, where turning moves it least, as the board beside it lets it be: the module ends at
// this y, the board begins behind it.
free = sqrt(max(0, radius * radius - board_size[0] * board_size[0] / 4)) - between - board_size[1];
edge = min(module_size[1] / 2, free);
module_y = (1 - stacked) * (edge - module_size[1] / 2);
board_y = (1 - stacked) * (edge + between + board_size[1] / 2);
module_far = norm([module_size[0] / 2, abs(module_y) + module_size[1] / 2]);
board_far = norm([board_size[0] / 2, abs(board_y) + board_size[1] / 2]);
assert(max(module_far, board_far) <= radius + 0.001,
       str("The igloo is too small for these boards: its foot must measure ",
           2 * (max(module_far, board_far) + ledge - gap), " mm, or try stacked = 1."));

module pocket(size, y) {
    translate([-size[0] / 2, y - size[1] / 2, floor_thick]) cube([size[0], size[1], room + 1]);
}

difference() {
    union() {
        difference() {
            cylinder(h = height, d = inner + 2 * wall);
            // the foot's seat
            translate([0, 0, floor_thick + room]) cylinder(h = foot_height + 1, d = inner);
        }
        for (n = [0 : clips - 1])
            rotate(n * 360 / clips) translate([inner / 2, 0, height - 1]) scale([1, 3, 1]) sphere(d = 2 * bump, $fn = 24);
    }
    pocket(module_size, module_y);
    pocket(board_size, board_y);
    // between them, for the six wires
    translate([-4, edge - 4, floor_thick]) cube([8, between + 8, room + 1]);
    // the cable's way out, with a narrow neck as strain relief
    translate([0, 0, floor_thick + cable / 2]) rotate([-90, 0, 0]) cylinder(h = inner, d = cable);
    translate([-cable / 2 + 0.4, 0, floor_thick + cable / 2]) cube([cable - 0.8, inner, height]);
}
